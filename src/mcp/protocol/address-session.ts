import { type Context, narrowed } from '../../graphql/context.ts'

/** What the options of an address leave: each only takes away. */
export type Options = {
  /** Reading tools only. */
  readonly readonly: boolean
  /** These record types only; null for all of them. */
  readonly types: readonly string[] | null
  /** These tools only; null for all of them. */
  readonly tools: readonly string[] | null
}

/** What a tool call stands on: who asks, where, and what the address leaves of it. */
export type AddressSession = Options & {
  /** With the rights that the address leaves; every tool runs with these. */
  readonly context: Context
  /** The same with all that the token may: tells what the address hides from what the token may not. */
  readonly whole: Context
  /** The base of the address; null on `/mcp`, where tools take `base_id`. */
  readonly base: string | null
  /** The endpoint of the address. */
  readonly endpoint: string | null
  /** What clients call the server by, where it has a name on the network. */
  readonly publicUrl: string | undefined
  /** What is said of the address to a model, where that is not what is said of all. */
  readonly instructions: string | null
}

/** The session of a caller at an address. Types and `readonly` narrow the rights themselves, so nothing is a way round. */
export function openSession(
  whole: Context,
  base: string | null,
  options: Options,
  publicUrl?: string,
): AddressSession {
  const { types, readonly } = options
  const context = narrowed(whole, { types, permission: readonly ? 'read' : null })
  return { ...options, whole, context, base, endpoint: null, publicUrl, instructions: null }
}

/** Names the address of a session: the same call at another one is another call. */
export const addressOf = ({ base, endpoint }: Pick<AddressSession, 'base' | 'endpoint'>): string =>
  `/mcp${base === null ? '' : `/${base}`}${endpoint === null ? '' : `/e/${endpoint}`}`

/** The same with what its options leave, in whatever order they were written. */
export const exactAddressOf = (session: AddressSession): readonly unknown[] => {
  const { readonly, types, tools } = session
  return [addressOf(session), readonly, types && [...types].sort(), tools && [...tools].sort()]
}
