import { type Context, narrowed } from '../../graphql/context.ts'

/** Restrictions from the options of an address. No option adds a right. */
export type Options = {
  /** Allows read tools only. */
  readonly readonly: boolean
  /** Restricts to these record types; null for all. */
  readonly types: readonly string[] | null
  /** Restricts to these tools; null for all. */
  readonly tools: readonly string[] | null
  /** `lean` lists few tools and hides none; null is the default list. */
  readonly profile: 'lean' | null
}

/** The session of an MCP request: caller, address, and restrictions. */
export type AddressSession = Options & {
  /** The context with the rights that the address leaves. Every tool runs in it. */
  readonly context: Context
  /**
   * The context with all rights of the token. Distinguishes what the address hides from what the grants
   * forbid.
   */
  readonly whole: Context
  /** The base of the address; null on `/mcp`, where tools take `base_id`. */
  readonly base: string | null
  /** The endpoint of the address, if any. */
  readonly endpoint: string | null
  /** Public URL of the server, if configured. */
  readonly publicUrl: string | undefined
  /** Whether the client shows views in the chat. */
  readonly hasViews: boolean
  /** Server instructions of this address; null for the default. */
  readonly instructions: string | null
}

/**
 * Opens a session. `types` and `readonly` narrow the access of the context itself, so no tool can bypass
 * them.
 */
export function openSession(
  whole: Context,
  base: string | null,
  options: Options,
  publicUrl?: string,
): AddressSession {
  const { types, readonly } = options
  const context = narrowed(whole, { types, permission: readonly ? 'read' : null })
  return { ...options, whole, context, base, endpoint: null, publicUrl, hasViews: false, instructions: null }
}

/** Canonical address of a session. Idempotency keys and sealed state are bound to it. */
export const addressOf = ({ base, endpoint }: Pick<AddressSession, 'base' | 'endpoint'>): string =>
  `/mcp${base === null ? '' : `/${base}`}${endpoint === null ? '' : `/e/${endpoint}`}`

/** Canonical address including its options, independent of their order. */
export const exactAddressOf = (session: AddressSession): readonly unknown[] => {
  const { readonly, types, tools, profile } = session
  return [addressOf(session), readonly, types && [...types].sort(), tools && [...tools].sort(), profile]
}
