import type { Context } from '../graphql/context.ts'

/** What a tool call stands on: who asks, where, and what the address leaves of it. */
export type Session = {
  readonly context: Context
  /** The base of the address; null on `/mcp`, where tools take `base_id`. */
  readonly base: string | null
  /** The address asks for reading tools only. */
  readonly readonly: boolean
}
