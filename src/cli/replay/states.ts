/** What a session found and left: the records and relationships that it changed, before and after. */
import { isDeepStrictEqual } from 'node:util'
import { withIds } from './calls.ts'
import type { Server } from './server.ts'

export type Entry = {
  seq: number
  request_id: string
  kind: string
  record_type: string | null
  id: string
  operation: string
  version: number
  call: { tool: string } | null
  diff: readonly { value?: unknown; before?: unknown }[]
}
/** A record in one state; null where there is none. */
type State = Readonly<Record<string, unknown>> | null
type Link = Readonly<
  Record<'rel_type' | 'source_record_type' | 'source_id' | 'target_record_type' | 'target_id', string>
> & { data?: object }
type Operation = Readonly<Record<string, unknown>> & { type: string }
export type Difference = { what: string; field: string | null; session: unknown; replay: unknown }
/** A record, and the versions of the first and the last change that the session made. */
type Touched = { type: string; id: string; first: number; last: number }
/** The base of the session, and the change-set of the replay. */
export type Place = { server: Server; base: string; into: string }

/** Operations of a batch. */
const MOST = 1000

/** Entries of the log with these parameters: all pages. */
export async function readEntries({ list }: Server, base: string, query: Record<string, string>) {
  const entries: Entry[] = []
  for (let after = '0'; ; ) {
    const { data, meta } = await list<Entry>([base, 'changes'], { ...query, limit: '1000', after })
    entries.push(...data)
    if (!meta.has_more) return entries
    after = `${meta.next_after}`
  }
}

const recordsIn = (entries: readonly Entry[]): Touched[] => [
  ...entries
    .filter(({ kind }) => kind === 'record')
    .reduce((touched, { record_type, id, version }) => {
      const type = record_type ?? ''
      const first = touched.get(`${type}/${id}`)?.first ?? version
      return touched.set(`${type}/${id}`, { type, id, first, last: version })
    }, new Map<string, Touched>())
    .values(),
]

/** Relationships by their ids, with the first and the last that happened to each. */
function linksIn(entries: readonly Entry[]) {
  const links = new Map<string, { id: string; link: Link; first: string; last: string }>()
  for (const { kind, id, operation, diff } of entries) {
    if (kind !== 'relationship') continue
    const known = links.get(id)
    const link = known?.link ?? ((diff[0]?.value ?? diff[0]?.before) as Link | undefined)
    if (link?.rel_type !== undefined)
      links.set(id, { id, link, first: known?.first ?? operation, last: operation })
  }
  return [...links.values()]
}

type Found = { data: unknown; status: string; external_id: string | null; external_source: string | null }

type Of = { type: string; id: string }
async function stateOf({ find }: Server, base: string, { type, id }: Of, version?: number): Promise<State> {
  if (version === 0) return null
  const query = version === undefined ? undefined : { version: `${version}` }
  const found = await find<Found>([base, 'records', type, id], query)
  if (!found) return null
  const { data, status, external_id, external_source } = found
  return { data, status, ...(external_id !== null && { external_id, external_source }) }
}

/** Shows in a change-set what the session found, where production has something else by now. */
export async function restoreStart({ server, base, into }: Place, entries: readonly Entry[]): Promise<void> {
  const operations: Operation[] = []
  const links = linksIn(entries)
  for (const { id, first } of links)
    if (first === 'create' && (await server.find([into, 'relationships', id])))
      operations.push({ type: 'delete_relationship', id })
  for (const each of recordsIn(entries)) {
    const then = await stateOf(server, base, each, each.first - 1)
    const now = await stateOf(server, into, each)
    if (isDeepStrictEqual(then, now)) continue
    const at = { record_type: each.type, id: each.id }
    if (then === null) operations.push({ type: 'delete_record', ...at })
    else {
      const { status, ...document } = then
      operations.push({ type: 'upsert_record', ...at, ...document })
      if (status === 'cancelled') operations.push({ type: 'cancel_record', ...at })
    }
  }
  for (const { link, first } of links)
    if (first === 'delete')
      operations.push({ type: 'upsert_relationship', ...endsOf(link), ...(link.data && { data: link.data }) })
  for (let n = 0; n < operations.length; n += MOST)
    await server.send('POST', [into, 'batch'], { operations: operations.slice(n, n + MOST) })
}

const endsOf = ({ rel_type, source_record_type, source_id, target_record_type, target_id }: Link): Link => ({
  ...{ rel_type, source_record_type, source_id, target_record_type, target_id },
})

/** What the session and its replay left, beside one another. */
type Ends = Place & {
  /** What the session changed. */
  entries: readonly Entry[]
  /** What the change-set had before the replay. */
  start: readonly Entry[]
  /** Ids that the replay made, by those of then. */
  ids: ReadonlyMap<string, string>
}

/** Where the replay has ended otherwise than the session: a row for each field, and for each relationship. */
export async function compareEnds({ server, base, into, entries, start, ids }: Ends): Promise<Difference[]> {
  const idOf = (id: string) => ids.get(id) ?? id
  const formerly = new Map([...ids].map(([then, now]) => [now, then]))
  const known = new Set(start.map(({ id, record_type: type }) => `${type}/${id}`))
  const drafts = (await readEntries(server, into, { include: 'before' })).filter(
    ({ id, record_type: type }) => !known.has(`${type}/${id}`),
  )
  const differences: Difference[] = []
  const seen = new Set<string>()
  for (const { type, id, last } of recordsIn(entries)) {
    seen.add(`${type}/${idOf(id)}`)
    const then = await stateOf(server, base, { type, id }, last)
    const replay = await stateOf(server, into, { type, id: idOf(id) })
    differences.push(...rowsOf(`${type}/${id}`, then, withIds(replay, formerly) as State))
  }
  for (const { type, id } of recordsIn(drafts)) {
    if (seen.has(`${type}/${id}`)) continue
    const then = await stateOf(server, base, { type, id })
    const replay = await stateOf(server, into, { type, id })
    differences.push(...rowsOf(`${type}/${id}`, then, replay))
  }
  for (const { link, last } of linksIn(entries)) {
    const ends = withIds(endsOf(link), ids) as Link
    seen.add(nameOf(ends))
    const query = { filter: JSON.stringify(filterOf(ends)), limit: '1' }
    const { data } = await server.list([into, 'relationships'], query)
    differences.push(...presence(nameOf(endsOf(link)), last !== 'delete', data.length > 0))
  }
  for (const { link, last } of linksIn(drafts))
    if (!seen.has(nameOf(link)))
      differences.push(...presence(nameOf(link), last === 'delete', last !== 'delete'))
  return differences
}

const nameOf = (link: Link): string =>
  `${link.rel_type} ${link.source_record_type}/${link.source_id} -> ${link.target_record_type}/${link.target_id}`
const filterOf = (ends: Link) => ({
  and: Object.entries(ends).map(([field, value]) => ({ field, op: 'eq', value })),
})

const presence = (what: string, then: boolean, replay: boolean): Difference[] =>
  then === replay ? [] : [{ what, field: null, session: THERE[`${then}`], replay: THERE[`${replay}`] }]
const THERE = { true: 'present', false: 'absent' } as const

function rowsOf(what: string, then: State, replay: State): Difference[] {
  if (!then || !replay) return presence(what, then !== null, replay !== null)
  const [was, is] = [fieldsOf(then), fieldsOf(replay)]
  return [...new Set([...Object.keys(was), ...Object.keys(is)])]
    .filter((field) => !isDeepStrictEqual(was[field], is[field]))
    .map((field) => ({ what, field, session: was[field] ?? null, replay: is[field] ?? null }))
}

const fieldsOf = ({ data, ...state }: NonNullable<State>): Record<string, unknown> => ({
  ...state,
  ...Object.fromEntries(Object.entries(data ?? {}).map(([name, value]) => [`data.${name}`, value])),
})
