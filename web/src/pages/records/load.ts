/** The rows of a list, page by page as they come in sight. They stay as they were when the list was opened. */
import {
  keepPreviousData,
  type UseQueryResult,
  useQueries,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import type { Search } from '../../addresses.ts'
import { asking, type Failure, type Kind, pathOf, send, useAsk, useRead } from '../../api/queries.ts'
import type { Deleted, Json, Page, RecordType, RecordTypeProfile, Row } from '../../api/shapes.ts'
import type { Change } from '../../parts/link.tsx'
import type { Condition } from './filter.ts'

export type ListBody = { filter?: unknown; sort?: string; as_of?: string; expand?: string[] }
export type Linked = Row & {
  _expanded?: Record<string, { record: { id: string; record_type: string; title: string | null } }[]>
}

/** A list as the address asks for it, and the ways to ask for another. */
export type Listing = {
  base: string
  type: RecordType
  search: Search
  conditions: readonly Condition[]
  /** The search of words, as a filter. */
  searched: object | undefined
  sort: string
  asOf: string | undefined
  filter: object | undefined
  /** It is as it was at this time, until it is opened again. */
  stamp: number
  change: Change
  setConditions: (conditions: readonly Condition[]) => void
}

/** Without an index of the order, a page takes the server as long as half a page: it finds the place of each record first. */
const PAGE = 200
/** So many rows before and after those in sight are read too, once these are there: scrolling meets few that are blank. */
const AHEAD = 100
const pageOf = (row: number) => Math.floor(row / PAGE)
/** Pages out of sight are kept that long. */
const KEPT_MS = 60_000
/** A list does not move under its reader: it is read again when they ask for it. */
const FIXED = { staleTime: Number.POSITIVE_INFINITY, gcTime: KEPT_MS } as const

/** Rows by their places in a list, of the pages that are read. */
class Rows<Item> {
  readonly pages: readonly (readonly Item[] | undefined)[]
  readonly known: readonly Item[]
  readonly #first: number
  constructor(first: number, pages: readonly (readonly Item[] | undefined)[]) {
    this.#first = first
    this.pages = pages
    this.known = pages.flatMap((page) => page ?? [])
  }
  at(index: number): Item | undefined {
    const place = index - this.#first
    return place < 0 ? undefined : this.pages[Math.floor(place / PAGE)]?.[place % PAGE]
  }
  /** The place after the last one. */
  get end(): number {
    const last = this.pages.findLastIndex((page) => page !== undefined)
    return last < 0 ? 0 : this.#first + last * PAGE + (this.pages[last]?.length ?? 0)
  }
}

type Read<Item> = (offset: number, limit: number, signal: AbortSignal) => Promise<Page<Item>>

function usePaged<Item>(key: readonly unknown[], total: number | undefined, read: Read<Item>) {
  const client = useQueryClient()
  const [sight, setSight] = useState<readonly [from: number, to: number, first: number, last: number]>([
    0, 0, 0, 0,
  ])
  const onSight = useCallback(
    (from: number, to: number) => {
      const end = Math.max(to, Math.min(to + AHEAD, (total ?? 0) - 1))
      const [first, last] = [pageOf(Math.max(0, from - AHEAD)), pageOf(end)]
      const next = [pageOf(from), pageOf(to), first, last] as const
      setSight((so) => (next.every((page, at) => page === so[at]) ? so : next))
    },
    [total],
  )
  const [from, to, first, last] = sight
  const numbers = Array.from({ length: last - first + 1 }, (_, at) => first + at)
  const isInSight = (page: number) => page >= from && page <= to
  const isSeen = numbers.every(
    (page) => !isInSight(page) || client.getQueryData([...key, page]) !== undefined,
  )
  // Put together when a page comes, and the same until then: what only scrolls draws no row again.
  const combine = useCallback(
    (pages: UseQueryResult<Page<Item>>[]) => ({
      rows: new Rows(
        first * PAGE,
        pages.map(({ data }) => data?.data),
      ),
      isPending: pages.every((page) => page.isPending),
      failed: pages.find(({ error }) => error),
      hint: pages[0]?.data?.meta.hint,
    }),
    [first],
  )
  const { rows, isPending, failed, hint } = useQueries({
    combine,
    queries: numbers.map((page) => ({
      queryKey: [...key, page],
      queryFn: ({ signal }: { signal: AbortSignal }) => read(page * PAGE, PAGE, signal),
      enabled: isSeen || isInSight(page),
      ...FIXED,
    })),
  })
  // A new list takes the place of the old one when its first page is there.
  const before = useRef<{ rows: Rows<Item>; total: number }>({ rows: new Rows(0, []), total: 0 })
  const now = isPending ? before.current : { rows, total: Math.max(total ?? 0, rows.end) }
  useEffect(() => {
    if (!isPending) before.current = now
  })
  return {
    ...now,
    onSight,
    isPending,
    error: (failed?.error ?? null) as Failure | null,
    refetch: () => failed?.refetch(),
    hint,
  }
}

export type List = ReturnType<typeof usePaged<Linked>>

/** A cell shows 300 characters; the rest of a string stays on the server. */
export const listPath = (base: string, type: string) =>
  pathOf([base, 'records', type, 'query'], { max_string: 300 })

export function useList(
  base: string,
  type: string,
  body: ListBody,
  stamp: number,
  total: number | undefined,
): List {
  const path = listPath(base, type)
  return usePaged<Linked>([{ rows: path }, body, stamp], total, (offset, limit, signal) =>
    send('POST', path, { ...body, offset, limit }, { signal }),
  )
}

export function useTrash(base: string, type: string, stamp: number) {
  const path = (offset: number, limit: number, total?: boolean) =>
    pathOf([base, 'trash'], {
      record_type: type,
      include: 'titles',
      max_string: 300,
      offset,
      limit,
      include_total: total,
    })
  const total = useRead<Page<Deleted>>(path(0, 1, true)).data?.meta.total
  return usePaged<Deleted>([{ trash: path(0, 0) }, stamp, total], total, (offset, limit, signal) =>
    send('GET', path(offset, limit), undefined, { signal }),
  )
}

export type Foot = { count: number } & Record<string, Json>

/** How many there are, and sums of numbers, as the list was when it was opened. */
export function useFoot(
  base: string,
  type: string,
  body: ListBody,
  sums: readonly string[],
  stamp: number,
  enabled = true,
) {
  const path = pathOf([base, 'records', type, 'aggregate'])
  const asked = {
    ...(body.filter !== undefined && { filter: body.filter }),
    ...(body.as_of !== undefined && { as_of: body.as_of }),
    aggregations: [
      { fn: 'count' },
      ...sums.map((field) => ({ fn: 'sum', field, alias: field.replace('data.', 'sum_') })),
    ],
  }
  return useQuery({
    queryKey: [{ foot: path }, asked, stamp],
    queryFn: ({ signal }) => send<Page<Foot>>('POST', path, asked, { signal }),
    enabled,
    placeholderData: keepPreviousData,
    ...FIXED,
  }).data?.data[0]
}

export const useProfile = (base: string, type: string) =>
  useRead<RecordTypeProfile>(pathOf([base, 'record-types', type, 'profile']), { keep: true })

export type Group = { count: number } & Record<string, Json>
/** How many records have each value of a field. */
export const useGroups = (
  base: string,
  type: string,
  field: string,
  asked: { filter?: unknown; as_of?: string | undefined; limit: number; over?: object },
  enabled = true,
) =>
  useAsk<Page<Group>>(
    pathOf([base, 'records', type, 'aggregate']),
    { aggregations: [{ fn: 'count' }], group_by: [field], ...asked },
    { enabled, keep: true },
  )

export type Author = { id: string; actor_name: string; actor_kind: Kind }

// An array in place of IN: with the latter, the server reads the whole log.
const AUTHORS = `SELECT DISTINCT ON (id) id, actor_name, actor_kind FROM changes
WHERE kind = 'record' AND record_type = :type AND id = ANY (ARRAY(SELECT jsonb_array_elements_text(CAST(:ids AS jsonb))))
ORDER BY id, seq DESC`

const askedOf = (type: string, page: readonly Row[]) => ({
  query: AUTHORS,
  params: { type, ids: page.map(({ id }) => id) },
})

const authorsOf = (pages: UseQueryResult<Page<Author>>[]): ReadonlyMap<string, Author> =>
  new Map(pages.flatMap(({ data }) => data?.data ?? []).map((author) => [author.id, author]))

/** Who changed the rows last, asked page by page. A token that may not ask by SQL sees the times only. */
export function useAuthors(
  base: string,
  type: string,
  pages: readonly (readonly Row[] | undefined)[],
): ReadonlyMap<string, Author> {
  return useQueries({
    combine: authorsOf,
    queries: pages
      .filter((page) => page !== undefined)
      .map((page) => ({
        ...asking<Page<Author>>(pathOf([base, 'sql']), askedOf(type, page)),
        queryKey: [{ authors: base }, type, page.map(({ id, version }) => `${id} ${version}`)],
        enabled: page.length > 0,
        retry: false,
        ...FIXED,
      })),
  })
}
