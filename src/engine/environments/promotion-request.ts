/** What a promotion, proposal or rollback names: the preview, resources of it, and migrations of record types. */
import type { z } from 'zod'
import type { PromoteBody } from '../../contract/config-shapes.ts'
import { isBaseId, productionOf } from '../../contract/ids.ts'
import { unknownName } from '../../contract/suggest.ts'
import { advised } from '../../foundation/advised-requests.ts'
import { type Detail, invalid, withPaths } from '../../foundation/errors.ts'
import { pointer } from '../../json/parse.ts'
import type { PutOptions } from '../configuration/lifecycle/kind.ts'
import { proposesTo } from '../core/change-set/change-set-scope.ts'
import type { Scope } from '../core/scope.ts'
import { lastChangeSet } from './change-sets/proposals.ts'
import type { Edit } from './edits.ts'
import type { PromotionEdit } from './promotion-edits.ts'
import type { Snapshot } from './snapshot.ts'

type Body = Pick<z.output<typeof PromoteBody>, 'resources' | 'resolve' | 'revision'>
type Named = readonly { readonly kind: string; readonly id: string }[]

const isOfDraft = ({ kind, record_type, fields }: NonNullable<Body['resources']>[number]) =>
  kind === 'record' || kind === 'relationship' || record_type !== undefined || fields !== undefined

/**
 * The resources that a promotion of configuration names.
 * @throws VALIDATION_ERROR for what only a change-set has
 */
export function ofConfiguration({ resources, resolve, revision }: Partial<Body>): Named | undefined {
  const other = resources?.findIndex(isOfDraft) ?? -1
  const path =
    other >= 0 ? `/resources/${other}` : resolve ? '/resolve' : revision === undefined ? null : '/revision'
  if (path === null) return resources
  throw invalid({
    path,
    code: 'not_a_change_set',
    message: 'Only a change-set promotes records, and this preview has its own configuration. Leave it out.',
  })
}

/**
 * The preview that a proposal is of: the named one; else what the token proposes, the last that it wrote to.
 * @throws VALIDATION_ERROR as `checkPreviewOf`, and where there is neither
 */
export async function previewMeant(scope: Scope, baseId: string, named: string | undefined): Promise<string> {
  if (productionOf(baseId) !== baseId) throw isPreview(baseId)
  const proposes = named === undefined && proposesTo(scope, baseId)
  const from = proposes ? await lastChangeSet(scope, baseId) : named
  if (from === undefined) throw nothingNamed(baseId, proposes)
  checkPreviewOf(baseId, from)
  return from
}

/** @throws VALIDATION_ERROR unless the base is a production base, and `from` a preview of it */
export function checkPreviewOf(baseId: string, from: string): void {
  if (productionOf(baseId) !== baseId) throw isPreview(baseId)
  if (!isBaseId(from) || from === baseId || productionOf(from) !== baseId) throw notItsPreview(baseId, from)
}

/**
 * Selects the named resources, or all.
 * @throws VALIDATION_ERROR for a resource that no side has
 */
export function selection(
  resources: Named | undefined,
  sides: Readonly<Record<string, Snapshot>>,
): (kind: string, id: string) => boolean {
  const exists = (kind: string, id: string) => Object.values(sides).some((side) => side.get(kind)?.has(id))
  checkNamed(resources, exists)
  const names = resources && new Set(resources.map(({ kind, id }) => `${kind} ${id}`))
  return (kind, id) => names?.has(`${kind} ${id}`) ?? true
}

function checkNamed(resources: Named | undefined, exists: (kind: string, id: string) => boolean): void {
  const [first, ...more] = (resources ?? []).flatMap(({ kind, id }, n) =>
    exists(kind, id)
      ? []
      : [
          {
            path: `/resources/${n}/id`,
            code: 'unknown_resource',
            message: `Neither the preview nor production has a ${kind.replaceAll('_', ' ')} "${id.slice(0, 64)}". Send the id of a resource that one of them has.`,
          },
        ],
  )
  if (first) throw invalid(first, ...more)
}

/**
 * How the edits of a promotion or rollback are prepared, with the migrations of their record types. `located` says which edit
 * failed.
 * @throws VALIDATION_ERROR for a migration of another type
 */
export function prepareOptions(
  edits: readonly PromotionEdit[],
  migration: Migrations = {},
  located: (thrown: unknown, edit: Edit) => unknown,
) {
  const isChanged = ({ kind, before, after }: PromotionEdit) => kind.name === RECORD_TYPE && before && after
  const changed = edits.filter(isChanged).map(({ id }) => id)
  const others = Object.keys(migration).filter((id) => !changed.includes(id))
  const [fault, ...more] = others.map((id) => notChanged(id, changed))
  if (fault) throw invalid(fault, ...more)
  const migrationOf = ({ kind, id }: Edit) =>
    kind.name === RECORD_TYPE && Object.hasOwn(migration, id) ? migration[id] : undefined
  return {
    located,
    originOf,
    /** The migration of the record type that an edit changes. */
    migrationOf,
    optionsOf: (edit: PromotionEdit): Partial<PutOptions> =>
      migrationOf(edit) ? { onInvalid: 'migrate', migration: migrationOf(edit) } : {},
  }
}

const RECORD_TYPE = 'record_type'
type Migrations = z.output<typeof PromoteBody>['migration']

const notChanged = (id: string, changed: readonly string[]): Detail => ({
  path: `/migration${pointer(id)}`,
  code: 'unknown_resource',
  message: `Record type "${id.slice(0, 64)}" is not one of the record types that the request changes. Remove its migration.`,
  ...unknownName(id, changed),
})

const originOf = ({ origin = {} }: PromotionEdit): object => origin

/** Moves the failure of an absent preview to the argument that names it. */
export function atFrom(thrown: unknown): never {
  throw withPaths(thrown, (path) => (path === '/base_id' ? '/from' : path))
}

const nothingNamed = (baseId: string, proposes: boolean) =>
  invalid({
    path: '/from',
    code: 'required',
    message: proposes
      ? `The token has proposed nothing to "${baseId}" yet: its first write does. Or name a preview.`
      : `Name the preview, such as "${baseId}--dev". ${advised('list_previews')} lists them.`,
  })
const notItsPreview = (baseId: string, received: string) =>
  invalid({
    path: '/from',
    code: 'not_a_preview',
    message: `from must be a preview of "${baseId}", such as "${baseId}--dev". ${advised('list_previews')} lists them.`,
    received: received.slice(0, 64),
  })

export const isPreview = (received: string) =>
  invalid({
    path: '/base_id',
    code: 'is_preview',
    message: `"${received}" is a preview. Send it to its production base.`,
    received,
    hint: productionOf(received),
  })
