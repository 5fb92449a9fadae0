/** What waits for a decision: requests for review, and previews that differ from production. */
import { useQueries, useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { asking, type Failure, pathOf, reading, send, useAsk, useRead } from '../../api/queries.ts'
import type {
  Actor,
  Base,
  Change,
  ChangeSet,
  Edit,
  Group,
  Json,
  Page,
  RecordType,
  ReviewRequest,
  Row,
} from '../../api/shapes.ts'
import {
  isSmall,
  keyOf,
  kindName,
  type Proposal,
  proposalOf,
  recordOf,
  shortName,
  sizeOf,
} from '../../parts/proposal.ts'
import { nameOf, plural, pluralOf } from '../../parts/record-types.ts'
import type { Said } from '../../parts/review/opinion.tsx'
import { words } from '../../words.ts'

export type { Detail as Break, Sample } from '../../api/failure.ts'
export type { Edit, Promotion, ReviewRequest as Request, Secret } from '../../api/shapes.ts'
export type { Conflict, Proposal } from '../../parts/proposal.ts'

export type MigrationStep = {
  op: 'cast' | 'default' | 'drop' | 'rename' | 'replace'
  field: string
  from?: Json
  value?: Json
  to?: string
  type?: string
}
/** Steps that repair records, by record type. */
export type Migration = Readonly<Record<string, readonly MigrationStep[]>>
/** One thing to decide. `from` is the preview that it would promote, `request` who asked for the decision. */
export type Item = {
  id: string
  from?: string
  request?: ReviewRequest
  set?: ChangeSet
  by: Actor | null
  at: string | null
  /** The last request of the preview, where a person sent it back or declined it and nothing was written since. */
  refused?: ReviewRequest
}

/** Whom an item waits for: a person, its author, or nobody any more. */
export const placeOf = ({ set, refused }: Item): 'waiting' | 'back' | 'ended' =>
  refused
    ? refused.decision?.decision === 'send_back'
      ? 'back'
      : 'ended'
    : set === undefined || (set.closed_at === null && set.status !== 'changes_requested')
      ? 'waiting'
      : set.closed_at === null
        ? 'back'
        : 'ended'

export function useItems(base: string) {
  const requests = useRead<Page<ReviewRequest>>(
    pathOf([base, 'review-requests'], { state: 'open', limit: 100 }),
  )
  const decided = useRead<Page<ReviewRequest>>(
    pathOf([base, 'review-requests'], { state: 'decided', limit: 100 }),
  )
  const previews = useRead<Page<Base>>(pathOf([base, 'previews'], { limit: 1000 }))
  // Paused tokens have a list of their own.
  const asked = requests.data?.data.filter(({ kind }) => kind !== 'pause') ?? []
  const named = new Set(asked.map(({ from }) => from))
  const sets = new Map(
    previews.data?.data.flatMap(({ id, change_set: set }) => (set ? [[id, { set }] as const] : [])),
  )
  // Those that are merged have no changes left.
  const quiet = (previews.data?.data ?? []).filter(
    ({ id, change_set: set }) => !named.has(id) && (!set || sizeOf(set) > 0),
  )
  const latest = useQueries({
    queries: quiet.map(({ id, change_set: set }) => ({
      ...reading<Page<Group>>(pathOf([id, 'changes'], { group: 'request', limit: 1 })),
      enabled: !set,
    })),
  })
  const items: Item[] = [
    ...asked.map(
      (request): Item => ({
        id: request.id,
        ...(request.from != null && { from: request.from }),
        request,
        ...sets.get(request.from ?? ''),
        by: request.by,
        at: request.at,
      }),
    ),
    ...quiet.map(({ id, change_set: set }, at): Item => {
      if (set) {
        const by = { token_id: set.created_by ?? null, name: set.created_by_name } as Actor
        return { id, from: id, set, by, at: set.written_at }
      }
      const last = latest[at]?.data?.data[0]
      const refused = decided.data?.data.find(({ from }) => from === id)
      const isSo =
        refused?.decision &&
        refused.decision.decision !== 'accept' &&
        refused.decision.at > (last?.last_at ?? '')
      return { id, from: id, by: last?.actor ?? null, at: last?.last_at ?? null, ...(isSo && { refused }) }
    }),
  ]
  // A request that this server does not know leaves the previews.
  const error = previews.error ?? (requests.error?.status === 404 ? null : requests.error)
  const isPending = previews.isPending || requests.isPending || decided.isPending
  return {
    items,
    hasPauses: asked.length < (requests.data?.data.length ?? 0),
    error,
    isPending,
    data: previews.data && requests.data,
    refetch: () => void Promise.all([previews, requests, decided].map(({ refetch }) => refetch())),
  }
}

/** What an item would do now: what was asked for, or all that the preview differs in. */
function planOf(base: string, { request, from = '' }: Item) {
  if (!request) return proposalOf(base, { from })
  const path = pathOf([base, 'review-requests', request.id])
  return {
    queryKey: [path, { from }],
    queryFn: () => send<{ proposal: Proposal }>('GET', path).then(({ proposal }) => proposal),
    enabled: from !== '',
  }
}

/** The plans of a list, in its order. */
export const usePlans = (base: string, items: readonly Item[]) =>
  useQueries({
    queries: items.map((item) => {
      const plan = planOf(base, item)
      const isShown = (!item.set || isSmall(item.set)) && placeOf(item) !== 'ended'
      return { ...plan, enabled: plan.enabled && isShown }
    }),
  })

/** The plan of one, with what was chosen for records that do not fit, and the part that goes along. */
export function usePlan(
  base: string,
  item: Item,
  migration: Migration,
  partOf: (plan: Proposal) => { resources?: unknown[] } | undefined,
) {
  const asked = useQuery<Proposal, Failure>(planOf(base, item))
  const part = asked.data && partOf(asked.data)
  const wanted = item.request?.migration ?? {}
  const isOther = Object.keys(migration).some((type) => migration[type] !== wanted[type])
  const isRepaired = isOther || (part !== undefined && part.resources?.length !== 0)
  // A plan deletes configuration only where `prune` was asked for.
  const prune = asked.data?.changes.some(({ op }) => op === 'delete')
  const body = { from: item.from, ...(!item.set && { migration, ...(prune && { prune }) }), ...part }
  const repaired = useAsk<Proposal>(pathOf([base, 'promote', 'proposal']), body, {
    enabled: isRepaired,
    keep: true,
  })
  const { data } = repaired
  return {
    ...asked,
    error: asked.error ?? repaired.error,
    data: isRepaired && data && asked.data ? within(asked.data, data) : asked.data,
    isBusy: isRepaired && (repaired.isPending || repaired.isPlaceholderData),
  }
}

/**
 * A choice takes away what is in the way. What was asked for stays the same, and so do the conflicts that a person chooses in,
 * and the revision that is looked at.
 */
const within = ({ changes, conflicts, revision }: Proposal, chosen: Proposal): Proposal => ({
  ...{ ...chosen, changes },
  conflicts: revision === undefined ? chosen.conflicts : conflicts,
  ...(revision !== undefined && { revision }),
})

/** Whether a proposal would be refused, whatever is chosen. */
export const isBlocked = ({ breaks, conflicts }: Proposal): boolean =>
  breaks.length > 0 || conflicts.some(({ path }) => path === undefined)

const AT_A_TIME = 100

/** What production has of records that a change-set changes and that have no title, by the ids of the edits. */
export function useUntitled(base: string, edits: readonly Edit[]): ReadonlyMap<string, Row> {
  const untitled = edits.filter(({ kind, op, title }) => kind === 'record' && op !== 'create' && !title)
  const pages = useQueries({
    queries: [...Map.groupBy(untitled.map(recordOf), ([type]) => type)].flatMap(([type, names]) => {
      const path = pathOf([base, 'records', type, 'query'])
      return Array.from({ length: Math.ceil(names.length / AT_A_TIME) }, (_, page) => {
        const value = names.slice(page * AT_A_TIME, (page + 1) * AT_A_TIME).map(([, id]) => id)
        const body = { filter: { field: 'id', op: 'in', value }, limit: AT_A_TIME }
        return asking<Page<Row>>(path, body)
      })
    }),
  })
  return new Map(
    pages.flatMap(({ data }) => data?.data ?? []).map((row) => [`${row.record_type}/${row.id}`, row]),
  )
}

/** The name of what an edit changes. A new one has it in its definition. */
export function nameOfEdit(
  { kind, id, diff }: Pick<Edit, 'kind' | 'id' | 'diff'>,
  types: readonly RecordType[],
) {
  const made = diff.find(({ path }) => path === '')?.value
  const name = made !== null && typeof made === 'object' && !Array.isArray(made) ? made?.['name'] : undefined
  if (kind !== 'record_type') return typeof name === 'string' && name !== '' ? name : id
  const type = types.find((each) => each.id === id)
  return type ? pluralOf(type) : plural(nameOf(undefined, typeof name === 'string' ? name : id))
}

export function titleOf(item: Item, proposal: Proposal | undefined, types: readonly RecordType[]): string {
  if (item.from === undefined) return item.request?.title ?? item.id
  const changes = proposal?.changes ?? []
  if (item.set) return item.request?.title ?? item.set.title ?? words.review.titles.records(sizeOf(item.set))
  const changed = changes.find(({ kind, op }) => kind === 'record_type' && op === 'update')
  if (changed) return words.review.titles.changed(nameOfEdit(changed, types).toLowerCase())
  const [only] = changes
  if (only && changes.length === 1)
    return words.review.titles[only.op](kindName(only.kind), nameOfEdit(only, types))
  return words.review.titles.promote(shortName(item.from))
}

/** What is other than the last reviewer saw, and than this page showed first: keys of edits. */
export function useMoved(item: Item, plan: Proposal | undefined, said: readonly Said[]): ReadonlySet<string> {
  const [first, setFirst] = useState<Proposal>()
  if (plan && !first) setFirst(plan)
  const last = said.find(({ verdict, by }) => verdict !== 'comment' && by.token_id !== item.by?.token_id)
  const path = pathOf([item.from ?? '', 'changes'], { since: last?.at ?? '', limit: 1000 })
  const since = useRead<Page<Change>>(path, { enabled: last !== undefined && item.set !== undefined })
  return useMemo(() => {
    const before = new Map(first?.changes.map((edit) => [keyOf(edit), JSON.stringify(edit.diff)]))
    return new Set([
      ...(since.data?.data ?? []).map(({ kind, record_type: type, id }) =>
        keyOf({ kind, id: kind === 'record' ? `${type}/${id}` : id }),
      ),
      ...(plan?.changes ?? [])
        .filter((edit) => before.get(keyOf(edit)) !== JSON.stringify(edit.diff))
        .map(keyOf),
    ])
  }, [first, plan, since.data])
}
