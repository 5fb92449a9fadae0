import { succeed, times } from './answers.ts'
import type { Call } from './server.ts'

export const REL_TYPES = ['road', 'rail'] as const
export const DIRECTIONS = ['outgoing', 'incoming', 'both'] as const
type Direction = (typeof DIRECTIONS)[number]

/**
 * A graph of records and links. Records are numbered by their position in `types`, which has their record
 * types.
 */
export type Graph = {
  types: readonly string[]
  links: readonly { rel: string; source: number; target: number }[]
}

/** Request parameters of a traversal, without the start. */
export type Walk = { direction: Direction; depth: number; rel: string | null }

export const nodeId = (n: number): string => `n${n}`
export const linkId = ({ rel, source, target }: Graph['links'][number]): string =>
  `${rel}-${source}-${target}`

/** Creates the records and links in a base that has the types. */
export async function putGraph(call: Call, base: string, { types, links }: Graph): Promise<void> {
  const put = async (path: string, body: object) =>
    void succeed(await call('PUT', `/v1/${base}/${path}`, body), 201)
  await Promise.all(
    types.map((type, n) => put(`records/${type}/${nodeId(n)}`, { data: { n, even: n % 2 === 0 } })),
  )
  await Promise.all(
    links.map((link) =>
      put(`relationships/${linkId(link)}`, {
        rel_type: link.rel,
        source_record_type: types[link.source],
        source_id: nodeId(link.source),
        target_record_type: types[link.target],
        target_id: nodeId(link.target),
        data: { between: `${link.source} ${link.target}` },
      }),
    ),
  )
}

/**
 * Reference breadth-first search: the reachable records with their distance. Passes only through types in
 * `open`.
 */
export function breadthFirst(
  { types, links }: Graph,
  start: number,
  { direction, depth, rel }: Walk,
  open: (type: string) => boolean = () => true,
): Map<number, number> {
  const isOpen = (n: number) => open(types[n] ?? '')
  const next = times(types.length, (): number[] => [])
  for (const link of links) {
    if (rel !== null && link.rel !== rel) continue
    if (direction !== 'incoming' && isOpen(link.target)) next[link.source]?.push(link.target)
    if (direction !== 'outgoing' && isOpen(link.source)) next[link.target]?.push(link.source)
  }
  const seen = new Map([[start, 0]])
  // Iterating over a Map visits entries that are added meanwhile.
  for (const [at, far] of seen)
    if (far < depth) for (const n of next[at] ?? []) if (!seen.has(n)) seen.set(n, far + 1)
  seen.delete(start)
  return seen
}
