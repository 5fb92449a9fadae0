import { createHash, randomBytes } from 'node:crypto'
import type { Grant } from '../access/access.ts'
import type { Token as TokenRow } from '../prisma/client.ts'

export type Token = {
  id: string
  name: string
  /** `plt_…` and the last four characters. */
  masked: string
  grants: readonly Grant[]
  createdAt: string
  createdBy: string | null
  expiresAt: string | null
  lastUsedAt: string | null
  /** The raw token; only in the response that creates it. */
  token?: string
}

const PREFIX = 'plt_'

/** Generates a raw token. */
export const newToken = (): string => `${PREFIX}${randomBytes(32).toString('base64url')}`

/** The stored form of a token: its SHA-256 hash. */
export const hashOf = (token: string) => createHash('sha256').update(token).digest()

/** The row of a token without its hash. */
export type TokenState = Omit<TokenRow, 'hash'>

export const toToken = (row: TokenState): Token => ({
  id: row.id,
  name: row.name,
  masked: `${PREFIX}…${row.tail}`,
  grants: row.grants as unknown as readonly Grant[],
  createdAt: row.createdAt.toISOString(),
  createdBy: row.createdBy,
  expiresAt: row.expiresAt?.toISOString() ?? null,
  lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
})
