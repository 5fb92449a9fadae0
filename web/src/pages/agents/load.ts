/** Who works in a base, what they may, and what they did and tried. */
import { pathOf, useRead, useSession } from '../../api/queries.ts'
import type { Call, Endpoint, Lists, Page, Schema, Token, Usage } from '../../api/shapes.ts'
import { endpointsOf, reaches, signedInAs } from '../../parts/grants.ts'
import { DAY, HOUR, useNow } from '../../parts/text.tsx'

/** The spans of time that the page shows, each with its steps. */
const SPANS = {
  '24h': { interval: 'hour', steps: 24, ms: HOUR },
  '7d': { interval: 'day', steps: 7, ms: DAY },
  '30d': { interval: 'day', steps: 30, ms: DAY },
} as const
export type Span = keyof typeof SPANS
export const spanOf = (text: string | undefined): Span => (text === '7d' || text === '30d' ? text : '24h')

const NUMBERS = ['calls', 'failed', 'reads', 'changes', 'bytes_in', 'bytes_out', 'ms'] as const
export type Numbers = Pick<Usage, (typeof NUMBERS)[number]>

/** The tokens of a base; who may not see those of others sees the own one. */
export function useTokens(base: string) {
  const tokens = useRead<Page<Token>>(pathOf(['tokens'], { limit: 1000 }))
  const isOwn = tokens.error?.status === 403
  const own = useRead<Token>(pathOf(['tokens', 'self']), { enabled: isOwn })
  const all = tokens.data?.data ?? (own.data ? [own.data] : [])
  const rows = signedInAs(all).filter(({ grants }) => grants.some((grant) => reaches(grant, base)))
  return {
    ...(isOwn ? own : tokens),
    isOwn,
    rows: rows.sort((one, other) => RANK[one.kind] - RANK[other.kind]),
  }
}
const RANK = { agent: 0, program: 1, person: 2 }

/** What each token used, step by step. A tab of a person counts as the person. */
export function useUsage(base: string, span: Span, tokens: readonly Token[]) {
  const { interval, steps, ms } = SPANS[span]
  const now = useNow()
  const first = Math.floor(now / ms) * ms - (steps - 1) * ms
  const usage = useRead<Page<Usage>>(
    pathOf([base, 'usage'], { since: new Date(first).toISOString(), interval, by: 'token' }),
    { keep: true },
  )
  const rows = usage.data?.data
  const starts = Array.from({ length: steps }, (_, at) => first + at * ms)
  const listed = new Set(tokens.map(({ id }) => id))
  const of = ({ id, name }: Token) =>
    rows?.filter(
      ({ token }) => token?.token_id === id || (token?.name === name && !listed.has(token.token_id)),
    ) ?? []
  return {
    // Before it is there, its place is kept.
    isKnown: usage.error === null,
    isThere: rows !== undefined,
    starts,
    sum: (token: Token): Numbers => sumOf(of(token)),
    /** A number of each step. */
    series: (token: Token, name: keyof Numbers): number[] =>
      starts.map((start) =>
        of(token)
          .filter(({ at }) => Date.parse(at) >= start && Date.parse(at) < start + ms)
          .reduce((sum, row) => sum + row[name], 0),
      ),
  }
}
const sumOf = (rows: readonly Usage[]) =>
  Object.fromEntries(NUMBERS.map((name) => [name, rows.reduce((sum, row) => sum + row[name], 0)])) as Numbers

/** How much a token used each tool, the most first. */
export const useToolUsage = (base: string, token: string, since: number) =>
  useRead<Page<Usage>>(pathOf([base, 'usage'], { token, since: new Date(since).toISOString(), by: 'tool' }), {
    keep: true,
  })

/** The latest calls of a token that failed. */
export const useFailed = (base: string, token: string, since: number, limit: number) =>
  useRead<Page<Call>>(
    pathOf([base, 'calls'], { token, outcome: 'failed', since: new Date(since).toISOString(), limit }),
    { keep: true },
  )

export type Tool = Omit<Lists['mcp/tools'], 'input_schema'> & { input_schema: Schema }
export type Resolved = Omit<Endpoint, 'tools'> & { tools: Tool[] }

/** The endpoints of a base; who may not read them sees those of the own grants. */
export function useEndpoints(base: string) {
  const all = useRead<Page<Endpoint>>(pathOf([base, 'endpoints'], { limit: 1000 }))
  const session = useSession()
  const granted = 'self' in session ? session.self.grants.flatMap(endpointsOf) : []
  const isOwn = all.error?.status === 403
  const own: (Pick<Endpoint, 'id' | 'name'> & Partial<Endpoint>)[] = [...new Set(granted)].map((id) => ({
    id,
    name: id,
  }))
  return { error: isOwn ? null : all.error, rows: isOwn ? own : (all.data?.data ?? []) }
}
export const useResolved = (base: string, endpoint: string) =>
  useRead<Resolved>(pathOf([base, 'endpoints', endpoint, 'resolved']))
