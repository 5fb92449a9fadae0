/** What the page of activity reads. */
import { useMemo, useState } from 'react'
import type { Search } from '../../addresses.ts'
import { timeNow } from '../../api/clock.ts'
import { type Kind, pathOf, useAsk, useFailing, usePages, useRead, useWaiting } from '../../api/queries.ts'
import type { Change, Claim, Group, Page } from '../../api/shapes.ts'

const PAGE = 100
export const DAY = '24h'

export function useFeed(base: string, { since = DAY, who, kind, type, op, until }: Search) {
  const filters = { since, until, actor: who, actor_kind: kind, record_type: type, operation: op }
  const how = { group: 'request', include: 'fields,titles', limit: PAGE }
  return usePages<Group>(pathOf([base, 'changes'], { ...how, ...filters }), 'before')
}

/** Some changes of a request, with their values before. */
export const useChangesOf = (base: string, request: string, limit: number) =>
  useRead<Page<Change>>(
    pathOf([base, 'changes'], {
      request_id: request,
      include: 'before,titles',
      order: 'desc',
      max_string: 300,
      limit,
    }),
  )

export type Bar = { at: string; kind: Kind; requests: number; changes: number }

export type Unit = 'minute' | 'hour' | 'day'

/** Requests and changes by minute, hour or day, and by kind of author. */
export function useBars(base: string, since: string) {
  const unit: Unit = since === '1h' ? 'minute' : /^\d+d$/.test(since) ? 'day' : 'hour'
  const from = useMemo(() => sinceOf(since).toISOString(), [since])
  const body = {
    query: `SELECT date_trunc('${unit}', at) AS at, coalesce(actor_kind, 'program') AS kind,
      count(DISTINCT request_id)::int AS requests, count(*)::int AS changes FROM changes WHERE at >= $1 GROUP BY 1, 2 ORDER BY 1`,
    params: [from],
  }
  const { data, isPending } = useAsk<{ data: Bar[] }>(pathOf([base, 'sql']), body, { keep: true })
  return { unit, from, bars: data?.data, isPending }
}

/** The time of an age such as `24h`, or of a timestamp. */
function sinceOf(since: string): Date {
  const [, count, unit = ''] = /^(\d+)([mhd])$/.exec(since) ?? []
  const size = { m: 60_000, h: 3_600_000, d: 86_400_000 }[unit]
  // By the minute: the parts of a page that ask the same share the answer.
  const now = Math.floor(timeNow() / 60_000) * 60_000
  return count && size ? new Date(now - Number(count) * size) : new Date(since)
}

export const useClaims = (base: string) =>
  useRead<Page<Claim>>(pathOf([base, 'claims'], { status: 'active', include: 'titles', limit: 100 }))

/** Whether all that stands beside and above the feed was read once: what comes at once moves nothing. */
export function useIsReady(base: string, since: string, feed: { isPending: boolean }): boolean {
  const [isReady, setReady] = useState(false)
  const rest = [useWaiting(base), useClaims(base), useFailing(base, since), useBars(base, since)]
  if (!isReady && ![feed, ...rest].some(({ isPending }) => isPending)) setReady(true)
  return isReady
}
