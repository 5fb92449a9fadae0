/** The rows of a list, page by page as they come in sight. They stay as they were when the list was opened. */
import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { Failure } from '../../api/failure.ts'
import { useAsk, useRead } from '../../api/queries.ts'
import { pathOf, send } from '../../api/send.ts'
import type { Kind } from '../../api/session.ts'
import type { Deleted, Json, Page, Profile, Row } from '../../api/shapes.ts'

export type ListBody = { filter?: unknown; sort?: string; as_of?: string; expand?: string[] }
export type Linked = Row & {
  _expanded?: Record<string, { record: { id: string; record_type: string; title: string | null } }[]>
}

const PAGE = 100
/** Rows are read before they are in sight, so that scrolling meets few that are blank. */
const AHEAD = 60
/** Pages out of sight are kept that long. */
const KEPT_MS = 60_000
/** A list does not move under its reader: it is read again when they ask for it. */
const FIXED = { staleTime: Number.POSITIVE_INFINITY, gcTime: KEPT_MS } as const

type Read<Item> = (offset: number, limit: number, signal: AbortSignal) => Promise<Page<Item>>

function usePaged<Item>(key: readonly unknown[], total: number | undefined, read: Read<Item>) {
  const [[first, last], setSight] = useState<readonly [number, number]>([0, 0])
  const onSight = useCallback(
    (from: number, to: number) => {
      const end = Math.max(to, Math.min(to + AHEAD, (total ?? 0) - 1))
      const pages = [Math.floor(Math.max(0, from - AHEAD) / PAGE), Math.floor(end / PAGE)] as const
      setSight((so) => (so[0] === pages[0] && so[1] === pages[1] ? so : pages))
    },
    [total],
  )
  const numbers = Array.from({ length: last - first + 1 }, (_, at) => first + at)
  const pages = useQueries({
    queries: numbers.map((page) => ({
      queryKey: [...key, page],
      queryFn: ({ signal }: { signal: AbortSignal }) => read(page * PAGE, PAGE, signal),
      ...FIXED,
    })),
  })
  // A new list takes the place of the old one when its first page is there.
  const before = useRef<{ rows: (Item | undefined)[]; total: number }>({ rows: [], total: 0 })
  const rows: (Item | undefined)[] = []
  pages.forEach(({ data }, at) => {
    data?.data.forEach((row, place) => {
      rows[(first + at) * PAGE + place] = row
    })
  })
  const isPending = pages.every((page) => page.isPending)
  const known = rows.length
  const now = isPending ? before.current : { rows, total: Math.max(total ?? 0, known) }
  useEffect(() => {
    if (!isPending) before.current = now
  })
  const failed = pages.find(({ error }) => error)
  return {
    ...now,
    onSight,
    isPending,
    error: (failed?.error ?? null) as Failure | null,
    refetch: () => failed?.refetch(),
    hint: pages[0]?.data?.meta.hint,
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
  useRead<Profile>(pathOf([base, 'record-types', type, 'profile']), { keep: true })

export type Group = { count: number } & Record<string, Json>
export const useGroups = (
  base: string,
  type: string,
  field: string,
  filter: unknown,
  asOf: string | undefined,
  most: number,
) =>
  useAsk<Page<Group>>(
    pathOf([base, 'records', type, 'aggregate']),
    {
      ...(filter !== undefined && { filter }),
      ...(asOf !== undefined && { as_of: asOf }),
      aggregations: [{ fn: 'count' }],
      group_by: [field],
      limit: most,
    },
    { keep: true },
  )

export const DAYS = 30

/** The counts of each value at the end of each of the last days. */
export const useSeries = (base: string, type: string, field: string, filter: unknown, enabled: boolean) =>
  useAsk<Page<Group>>(
    pathOf([base, 'records', type, 'aggregate']),
    {
      ...(filter !== undefined && { filter }),
      aggregations: [{ fn: 'count' }],
      group_by: [field],
      over: { interval: 'day', since: `${DAYS}d` },
      limit: 1000,
    },
    { enabled, keep: true },
  )

export type Author = { id: string; actor_name: string; actor_kind: Kind }

const AUTHORS = `SELECT DISTINCT ON (id) id, actor_name, actor_kind FROM changes
WHERE kind = 'record' AND record_type = :type AND id IN (SELECT jsonb_array_elements_text(CAST(:ids AS jsonb)))
ORDER BY id, seq DESC`

/** Who changed the rows last. A token that may not ask by SQL sees the times only. */
export function useAuthors(
  base: string,
  type: string,
  rows: readonly (Row | undefined)[],
): Map<string, Author> {
  const ids = rows.flatMap((row) => (row ? [`${row.id} ${row.version}`] : []))
  const answer = useQuery({
    queryKey: [{ authors: base }, type, ids],
    queryFn: ({ signal }) =>
      send<Page<Author>>(
        'POST',
        pathOf([base, 'sql']),
        { query: AUTHORS, params: { type, ids: ids.map((id) => id.slice(0, id.lastIndexOf(' '))) } },
        { signal },
      ),
    enabled: ids.length > 0,
    placeholderData: keepPreviousData,
    retry: false,
    ...FIXED,
  })
  return useMemo(() => new Map((answer.data?.data ?? []).map((author) => [author.id, author])), [answer.data])
}
