/** Promotes the configuration of a preview to its production base. */
import type { z } from 'zod'
import { digestInTurns } from '../../contract/canonical-hash.ts'
import { PromoteBody } from '../../contract/config-shapes.ts'
import { isBaseId, productionOf } from '../../contract/ids.ts'
import { unknownName } from '../../contract/suggest.ts'
import { check, inBody } from '../../contract/validate.ts'
import { advised } from '../../foundation/advised-requests.ts'
import { type Detail, DomainError, invalid, withPaths } from '../../foundation/errors.ts'
import { uuidv7 } from '../../foundation/uuid.ts'
import { pointer } from '../../json/parse.ts'
import { requirePermission } from '../access/access.ts'
import { setCause } from '../change-log/entry.ts'
import { KINDS } from '../configuration/kinds.ts'
import type { PutOptions } from '../configuration/lifecycle/kind.ts'
import { lockForPromotion } from '../configuration/lifecycle/lock.ts'
import { stepsOfIds } from '../configuration/lifecycle/read-in-steps.ts'
import type { Db } from '../database/client.ts'
import type { Planning } from '../write/plan-approval.ts'
import type { WriteScope } from '../write/write.ts'
import { clientWarnings } from './client-warnings.ts'
import { applyEdits, type Edit, occasional, type Prepared, prepareEdits } from './edits.ts'
import { atNamed, atResource } from './failures.ts'
import { moveFork, readFork } from './fork.ts'
import { prepareAhead } from './prepare-ahead.ts'
import { nothingPromoted, type Promotion, storePromotion } from './promotion.ts'
import type { PromotionEdit } from './promotion-edits.ts'
import { type Snapshot, snapshotIn } from './snapshot.ts'
import { type Comparison, type Conflict, compareSides } from './three-way.ts'

type Named = NonNullable<z.output<typeof PromoteBody>['resources']>

/**
 * Applies the changes of a preview since its fork to its production base, in one transaction, and moves the
 * fork.
 * @throws FORBIDDEN; VALIDATION_ERROR; NOT_FOUND; CONFLICT where both sides changed, or data does not fit
 */
export async function promote(scope: WriteScope, baseId: string, input: object): Promise<Promotion> {
  requirePermission(scope.access, 'admin', baseId, '*')
  const { from, prune = false, force = false, resources, migration } = check(PromoteBody, input, inBody())
  checkPreviewOf(baseId, from)
  requirePermission(scope.access, 'read', from, '*')
  // The plan of a promotion is of the whole. It confirms no deletion of a type with records: that needs `force`.
  const { planning, ...unplanned } = scope
  const located = resources ? atNamed : atResource
  const plan = async (at: WriteScope): Promise<PreparedPromotion> => {
    const sides = {
      fork: await readFork(at.db, from),
      preview: await snapshotIn(at.db, from),
      production: await snapshotIn(at.db, baseId),
    }
    const found = await compareSides(sides, prune, selection(resources, sides))
    if (found.conflicts.length > 0 && !force) throw onBothSides(found.conflicts)
    const past = await withOrigins(at.db, baseId, from, found.edits)
    const edits = await prepareEdits(past, { ...how(past, migration), located }, { scope: at, baseId })
    return { ...found, edits, warnings: await clientWarnings(at, baseId, past) }
  }
  const write = async (within: WriteScope, planned: PreparedPromotion) => {
    const done = await apply(within, baseId, from, planned, { isForced: force, located })
    if (planning) await requireApproval(planning, withoutSecrets(done), planned.edits)
    return done
  }
  const lock = (within: WriteScope, base: string) =>
    base === from ? lockForPromotion(within, base).catch(atFrom) : lockForPromotion(within, base)
  return prepareAhead(unplanned, [baseId, from], plan, write, lock)
}

type PreparedPromotion = Omit<Comparison, 'edits'> & {
  readonly edits: readonly Prepared<PromotionEdit>[]
  readonly warnings: readonly string[]
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

/** Rolls back a promotion that a plan has to precede, if it changes anything. */
async function requireApproval(
  planning: Planning,
  promotion: Promotion,
  edits: readonly Prepared<PromotionEdit>[],
): Promise<void> {
  const state = await digestInTurns(
    edits.map(({ edit: { kind, id, before, after } }) => [kind.name, id, before, after]),
  )
  planning.checkApproval(edits.length > 0, () => {
    const what = sentence(promotion)
    return { state, what, plan: { what, promotion } }
  })
}

const NAMED_IN_PLAN = 5

/** `Promotes 2 changes from crm--dev to crm: create record_type deal, update endpoint desk.` */
function sentence({ from, baseId, changes }: Promotion): string {
  const named = changes.slice(0, NAMED_IN_PLAN).map(({ op, kind, id }) => `${op} ${kind} ${id}`)
  const more = changes.length > named.length ? ', …' : ''
  const many = `${changes.length} change${changes.length === 1 ? '' : 's'}`
  return `Promotes ${many} from ${from} to ${baseId}: ${named.join(', ')}${more}.`
}

async function apply(
  within: WriteScope,
  baseId: string,
  from: string,
  { edits, conflicts, forkPoints, kept, warnings }: PreparedPromotion,
  how: Parameters<typeof applyEdits>[3],
): Promise<Promotion> {
  const { db } = within
  const id = uuidv7()
  await setCause(db, id)
  const { secrets, recordsRewritten } = await applyEdits(within, baseId, edits, how)
  await moveFork(db, from, forkPoints)
  const past = edits.map(({ edit }) => edit)
  const entry = { id, baseId, kind: 'promotion', fromBase: from, edits: past, conflicts } as const
  const done = past.length > 0 ? await storePromotion(within, entry) : nothingPromoted(within, entry)
  return { ...done, ...occasional({ kept, recordsRewritten, secrets, warnings }) }
}

/** The promotion as a plan shows it, whose secrets are rolled back with it. */
const withoutSecrets = ({ secrets: _, ...promotion }: Promotion): Promotion => promotion

/**
 * How the edits of a promotion or rollback are applied, with the migrations of their record types.
 * @throws VALIDATION_ERROR for a migration of another type
 */
export function how(edits: readonly PromotionEdit[], migration: Migrations = {}) {
  const isChanged = ({ kind, before, after }: PromotionEdit) => kind.name === RECORD_TYPE && before && after
  const changed = edits.filter(isChanged).map(({ id }) => id)
  const others = Object.keys(migration).filter((id) => !changed.includes(id))
  const [fault, ...more] = others.map((id) => notChanged(id, changed))
  if (fault) throw invalid(fault, ...more)
  const steps = ({ kind, id }: Edit) =>
    kind.name === RECORD_TYPE && Object.hasOwn(migration, id) ? migration[id] : undefined
  return {
    located: atResource,
    originOf,
    /** The migration of the type that an edit changes. */
    steps,
    optionsOf: (edit: PromotionEdit): Partial<PutOptions> =>
      steps(edit) ? { onInvalid: 'migrate', migration: steps(edit) } : {},
  }
}

const RECORD_TYPE = 'record_type'
type Migrations = z.output<typeof PromoteBody>['migration']

const notChanged = (id: string, changed: readonly string[]): Detail => ({
  path: `/migration${pointer(id)}`,
  code: 'unknown_resource',
  message: `Record type "${id.slice(0, 64)}" is not one of the record types that this changes. Remove its migration.`,
  ...unknownName(id, changed),
})

const originOf = ({ origin = {} }: PromotionEdit): object => origin

/** Adds to each created or deleted resource what its row has beyond its definition. */
export async function withOrigins(
  db: Db,
  baseId: string,
  from: string,
  edits: readonly Edit[],
): Promise<PromotionEdit[]> {
  const origins = new Map<Edit, object>()
  for (const kind of KINDS.filter(({ logged }) => logged)) {
    for (const [side, isOf] of [
      [from, ({ before }: Edit) => before === null],
      [baseId, ({ after }: Edit) => after === null],
    ] as const) {
      const own = edits.filter((edit) => edit.kind === kind && isOf(edit))
      if (own.length === 0) continue
      const byId = new Map(own.map((edit) => [edit.id, edit]))
      for await (const rows of stepsOfIds(kind, db, side, [...byId.keys()]))
        for (const row of rows) {
          const edit = byId.get(row.id)
          if (edit) origins.set(edit, kind.logged?.(row) ?? {})
        }
    }
  }
  return edits.map((edit) => {
    const origin = origins.get(edit)
    return origin ? { ...edit, origin } : edit
  })
}

/** Moves the failure of an absent preview to the argument that names it. */
export function atFrom(thrown: unknown): never {
  throw withPaths(thrown, (path) => (path === '/base_id' ? '/from' : path))
}

function onBothSides(conflicts: readonly Conflict[]): DomainError {
  const message = (each: Conflict) =>
    `${each.kind} "${each.id}" was changed in production too. Make the change of production in the preview, or send force to replace it.`
  return new DomainError(
    'CONFLICT',
    `${conflicts.length === 1 ? '1 resource was' : `${conflicts.length} resources were`} changed in production and in the preview. Nothing was promoted.`,
    {
      details: conflicts.map((each) => ({
        path: `/${each.kind}/${each.id}`,
        code: 'changed_on_both_sides',
        message: message(each),
        samples: [{ production: each.production, preview: each.preview }],
      })),
    },
  )
}

function checkNamed(resources: Named | undefined, exists: (kind: string, id: string) => boolean): void {
  const [first, ...more] = (resources ?? []).flatMap(({ kind, id }, n) =>
    exists(kind, id)
      ? []
      : [
          {
            path: `/resources/${n}/id`,
            code: 'unknown_resource',
            message: `Neither the preview nor production has a ${kind.replaceAll('_', ' ')} "${id.slice(0, 64)}".`,
          },
        ],
  )
  if (first) throw invalid(first, ...more)
}

const notItsPreview = (baseId: string, received: string) =>
  invalid({
    path: '/from',
    code: 'not_a_preview',
    message: `from must be a preview of "${baseId}", such as "${baseId}--dev". ${advised('list_previews')} lists them.`,
    received: received.slice(0, 64),
  })

const isPreview = (received: string) =>
  invalid({
    path: '/base_id',
    code: 'is_preview',
    message: `"${received}" is a preview. Promote to its production base.`,
    received,
    hint: productionOf(received),
  })
