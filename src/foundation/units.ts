/** Sizes that are facts and not choices. */
export const MINUTE_MS = 60_000
export const DAY_MS = 86_400_000
export const MEBIBYTE = 1024 * 1024

/** The largest `integer` of PostgreSQL, and of GraphQL. */
export const MAX_INT4 = 2_147_483_647

/** AES-256-GCM. */
export const KEY_BYTES = 32
export const NONCE_BYTES = 12
export const TAG_BYTES = 16
