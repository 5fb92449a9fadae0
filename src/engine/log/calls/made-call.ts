import type { Actor } from '../../storage/access/token-session.ts'

/** The address that a call came to. */
export type Surface = 'rest' | 'mcp' | 'graphql' | 's3'

/** A tool call, or another request, that is over, with what it changed. */
export type MadeCall = EndedCall & {
  /** Whether it may have changed something. */
  readonly wrote: boolean
  /** How much it changed; null where only the change log can tell. */
  readonly changes: number | null
}

/** A tool call, or another request, that is over. */
export type EndedCall = {
  readonly baseId: string
  readonly actor: Actor
  readonly via: string
  readonly surface: Surface
  readonly endpoint: string | null
  /** The MCP tool; null for another request, which has a route. */
  readonly tool: string | null
  readonly route: string | null
  readonly requestId: string
  /** JSON-RPC id of a tool call, as the change log has it. */
  readonly callId: string | null
  /** `ok`, `input_required`, `cancelled`, or the code of a failure. */
  readonly outcome: string
  readonly message: string | null
  readonly ms: number
  readonly bytesIn: number
  readonly bytesOut: number
  readonly arguments: unknown
}

export type Writes = { readonly begun: number; readonly counted: number; readonly changes: number }

/** One of the `calls` of a request with what its writes tell. One of several does not know which changes it made. */
export const withChanges = (
  call: EndedCall,
  { begun, counted, changes }: Writes,
  calls: number,
): MadeCall => ({
  ...call,
  wrote: begun > 0,
  changes: begun === 0 || (counted === begun && calls === 1) ? changes : null,
})

/** Outcomes that are no failure. */
export const SUCCESSES = ['ok', 'input_required', 'cancelled'] as const

export const isFailure = (outcome: string): boolean => !SUCCESSES.some((success) => success === outcome)

/** Whether a call is listed: every tool call is, and what was refused. */
export const isListed = ({ tool, outcome }: MadeCall): boolean => tool !== null || isFailure(outcome)
