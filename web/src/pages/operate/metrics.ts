/** What the server counts, read every five seconds and kept in the tab for an hour. */
import { useQuery } from '@tanstack/react-query'
import type { Failure } from '../../api/failure.ts'
import { request } from '../../api/send.ts'

type Sample = { name: string; labels: Readonly<Record<string, string>>; value: number }
export type Read = { at: number; samples: readonly Sample[] }

const EVERY_MS = 5000
const KEPT_MS = 3_600_000
const MINUTE = 60_000
const REQUESTS = 'plinth_http_request_duration_seconds'

/** The lines of the Prometheus format that have a value. */
function parse(text: string): Sample[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/i.exec(line) ?? []
    if (name === undefined || value === undefined) return []
    const pairs = [...labels.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/gi)]
    return [
      { name, labels: Object.fromEntries(pairs.map(([, key, text]) => [key, text])), value: Number(value) },
    ]
  })
}

/** Only what the page shows: an hour of all would be megabytes. */
const isShown = ({ name }: Sample) => /^(plinth_|process_(resident|start))/.test(name)

let kept: Read[] = []

export const useMetrics = () =>
  useQuery<readonly Read[], Failure>({
    queryKey: ['/metrics'],
    refetchInterval: EVERY_MS,
    // What is kept is itself; an hour of it is not compared at each read.
    structuralSharing: false,
    queryFn: async ({ signal }) => {
      const text = await (await request('GET', '/metrics', undefined, { signal })).text()
      const at = Date.now()
      kept = [...kept.filter((each) => each.at > at - KEPT_MS), { at, samples: parse(text).filter(isShown) }]
      return kept
    },
  })

type Match = (labels: Sample['labels']) => boolean
export const sum = ({ samples }: Read, name: string, match: Match = () => true): number =>
  samples.reduce(
    (before, each) => (each.name === name && match(each.labels) ? before + each.value : before),
    0,
  )

const isFailed: Match = ({ status }) => Number(status) >= 500

/** What was counted between two reads. A server that started again counts from nothing. */
function grown(first: Read, last: Read, name: string, match?: Match): number {
  const now = sum(last, name, match)
  const more = now - sum(first, name, match)
  return more < 0 ? now : more
}

/** How many requests there were between two reads, and how many of them failed. */
const between = (first: Read, last: Read) => ({
  count: grown(first, last, `${REQUESTS}_count`),
  failed: grown(first, last, `${REQUESTS}_count`, isFailed),
})

/** The upper edges of the buckets that have a share of the requests between two reads, in milliseconds. */
function sharesOf(first: Read, last: Read, count: number) {
  const edges = [
    ...new Set(
      last.samples.flatMap(({ name, labels }) => (name === `${REQUESTS}_bucket` ? [labels['le']] : [])),
    ),
  ]
  const below = edges
    .map((edge) => ({
      edge: Number(edge?.replace('+Inf', 'Infinity')),
      count: grown(first, last, `${REQUESTS}_bucket`, ({ le }) => le === edge),
    }))
    .sort((a, b) => a.edge - b.edge)
  return (part: number) =>
    count === 0 ? 0 : (below.find((each) => each.count >= count * part)?.edge ?? 0) * 1000
}

/** The last minute. */
export function latest(reads: readonly Read[]) {
  const last = reads.at(-1)
  const first = reads.find(({ at }) => last !== undefined && at >= last.at - MINUTE - EVERY_MS / 2)
  if (!last || !first || first === last) return undefined
  const requests = between(first, last)
  return { ...requests, share: sharesOf(first, last, requests.count), seconds: (last.at - first.at) / 1000 }
}

/** A chart of few bars says less than one with room for more. */
const LEAST = 30

/** Minute by minute, the oldest first. */
export function minutes(reads: readonly Read[]) {
  const end = Math.floor((reads.at(-1)?.at ?? 0) / MINUTE)
  const begin = Math.min(end - LEAST + 1, Math.floor((reads[0]?.at ?? 0) / MINUTE))
  const starts = Array.from({ length: end - begin + 1 }, (_, at) => (begin + at) * MINUTE)
  return starts.map((start) => {
    const first = reads.findLast(({ at }) => at <= start) ?? reads[0]
    const last = reads.findLast(({ at }) => at < start + MINUTE)
    const { count, failed } =
      first && last && first.at < last.at ? between(first, last) : { count: 0, failed: 0 }
    return { start, count, failed }
  })
}
