/** What a promotion of a change-set names: its drafts, and how their conflicts end. */
import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'
import type { PromoteBody } from '../../../contract/config-shapes.ts'
import { productionOf } from '../../../contract/ids.ts'
import { type Detail, invalid } from '../../../foundation/errors.ts'
import { isObject } from '../../../foundation/is-object.ts'
import { pointer } from '../../../json/parse.ts'
import type { Scope } from '../../core/scope.ts'
import { requirePermission } from '../../storage/access/access.ts'
import { type Document, type Draft, nameOf, readSeenDrafts } from './drafts.ts'
import type { DraftConflict, Resolution, Resolutions } from './merge.ts'

type Body = z.output<typeof PromoteBody>
export type Named = Pick<NonNullable<Body['resources']>[number], 'kind' | 'record_type' | 'id' | 'fields'>

export const keyOf = ({
  kind,
  record_type: type,
  id,
}: {
  kind: string
  record_type?: string | undefined
  id: string
}) => (kind === 'record' ? `record ${type ?? ''}/${id}` : `${kind} ${id}`)
export const keyOfDraft = (draft: Pick<Draft, 'kind' | 'type' | 'id'>) => `${draft.kind} ${nameOf(draft)}`

/**
 * The drafts that a request names, all of them by default. Of a record whose fields it names, only these.
 * @throws VALIDATION_ERROR for a name that is none of a draft
 */
export function selectDrafts(drafts: readonly Draft[], resources: readonly Named[] | undefined): Draft[] {
  if (!resources) return [...drafts]
  const known = new Map(drafts.map((draft) => [keyOfDraft(draft), draft]))
  const faults: Detail[] = []
  const selected = resources.flatMap((named, n) => {
    const draft = known.get(keyOf(named))
    if (!draft) faults.push(unknown(`/resources/${n}/id`, named.id))
    if (!draft || !named.fields) return draft ?? []
    const { base, preview } = draft
    if (preview === null || base === null) faults.push(notByField(`/resources/${n}/fields`))
    else
      for (const [m, field] of named.fields.entries())
        if (isDeepStrictEqual(narrowed(draft, [field]), base))
          faults.push(unknown(`/resources/${n}/fields/${m}`, field))
    return {
      ...{ ...draft, preview: narrowed(draft, named.fields) },
      rest: narrowed({ ...draft, base: preview, preview: base }, named.fields),
    }
  })
  const [first, ...more] = faults
  if (first) throw invalid(first, ...more)
  return [...new Map(selected.map((draft) => [keyOfDraft(draft), draft])).values()]
}

/** Drafts that a request names whole, and those of which it names fields. */
export const wholeAndParts = (selected: readonly Draft[]) =>
  Object.groupBy(selected, ({ rest }) => (rest === undefined ? 'whole' : 'parts'))

/**
 * The drafts that a request names, of those that the caller may read: nobody learns which others there are.
 * @throws FORBIDDEN for a record of a type that the caller may not read, drafted or not; VALIDATION_ERROR
 */
export async function selectSeen(
  scope: Pick<Scope, 'db' | 'access'>,
  id: string,
  resources: readonly Named[],
): Promise<Draft[]> {
  const types = resources.flatMap(({ kind, record_type: type }) => (kind === 'record' && type ? type : []))
  for (const type of new Set(types))
    for (const base of [id, productionOf(id)]) requirePermission(scope.access, 'read', base, type)
  return selectDrafts(await readSeenDrafts(scope, id), resources)
}

const unknown = (path: string, id: string): Detail => ({
  path,
  code: 'unknown_resource',
  message: `The change-set changes no such resource or field "${id.slice(0, 64)}". Send a kind, a record_type, an id and fields of its proposal.`,
})
const notByField = (path: string): Detail => ({
  path,
  code: 'exclusive',
  message: 'fields are parts of an update. A record that is created or deleted goes whole: leave fields out.',
})

/** `data.amount`, or a JSON Pointer. */
const pathOf = (field: string): string => (field.startsWith('/') ? field : pointer(...field.split('.')))
const stepsOf = (path: string): string[] =>
  path
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))

/** The base with some fields of the draft. */
export function narrowed({ base, preview }: Draft, fields: readonly string[]): Document | null {
  if (base === null || preview === null) return preview
  return fields.reduce<Document>(
    (document, field) => withField(document, preview, stepsOf(pathOf(field))) as Document,
    base,
  )
}

/** The document with one field as `from` has it. What lies beside the field stays, also where one side has nothing there. */
function withField(document: unknown, from: unknown, [step, ...rest]: readonly string[]): unknown {
  if (step === undefined) return from
  if (!isObject(from) && !isObject(document)) return document
  const { [step]: _, ...others } = isObject(document) ? document : {}
  const own = (value: unknown) => (isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined)
  const next = withField(own(document), own(from), rest)
  return next === undefined ? others : { ...others, [step]: next }
}

/** What a value may be sent for where nothing conflicts. The rest of a document, such as the ends of a link, has no values of its own. */
const isSettled = ([member, ...rest]: readonly string[]) =>
  (member === 'data' && rest.length > 0) || (member === 'external_id' && rest.length === 0)

/**
 * How the conflicts of a promotion end, and what production refuses. `force` takes the change-set where nothing else is
 * said of a conflict.
 */
export function openResolutions(
  resolve: Body['resolve'],
  isForced: boolean,
): Resolutions & { check(conflicts: readonly DraftConflict[]): void } {
  const all = (resolve ?? []).map((each, n) => {
    const { kind = 'record', record_type, id, field } = each
    const path = field === undefined ? '' : pathOf(field)
    return { ...each, n, path, key: keyOf({ kind, record_type, id }), used: false }
  })
  const said = new Map(all.map((each) => [`${each.key}${each.path}`, each]))
  const ofDraft = Map.groupBy(said.values(), ({ key }) => key)
  return {
    of: (draft, field) => {
      const found = said.get(`${keyOfDraft(draft)}${field}`)
      if (found) found.used = true
      if (!found) return isForced ? { take: 'preview' } : undefined
      return found.take === 'value'
        ? ({ take: 'value', value: found.value } satisfies Resolution)
        : { take: found.take }
    },
    settle: (draft, after) => {
      let settled = after
      for (const each of ofDraft.get(keyOfDraft(draft)) ?? []) {
        const { path, take, value, used } = each
        const steps = stepsOf(path)
        if (used || take === 'preview') continue
        if (path === '' && take === 'production') settled = draft.production
        else if (settled === null || !isSettled(steps)) continue
        else if (take === 'production')
          settled = withField(settled, draft.production ?? {}, steps) as Document
        else settled = withField(settled, nested(steps, value), steps) as Document
        each.used = true
      }
      return settled
    },
    mayGrow: (draft) => {
      const found = said.get(keyOfDraft(draft))
      if (found?.take !== 'preview') return isForced
      found.used = true
      return true
    },
    check: (conflicts) => {
      const idle = [...said.values()].find(({ used }) => !used)
      if (!idle || conflicts.length > 0) return
      throw invalid({
        path: `/resolve/${idle.n}`,
        code: 'unknown_conflict',
        message:
          'There is no such conflict. The proposal lists the conflicts that there are. Of other fields under data, and of external_id, send take "production", or "value" with a value.',
      })
    },
  }
}

const nested = (steps: readonly string[], value: unknown): unknown =>
  steps.reduceRight<unknown>((inner, step) => ({ [step]: inner }), value)
