import { createHash } from 'node:crypto'
import { type Access, compileAccess, type Grant } from './access.ts'

/** A token as requests are checked against it. */
export type Session = {
  tokenId: string
  /** Names its row in the cache of sessions; null where an issuer vouches for it, and nothing but its expiry ends it. */
  key: string | null
  name: string
  access: Access
  expiresAt: Date | null
}

/** Who asks, as what is written is told to be by. */
export type Actor = {
  readonly tokenId: string | null
  readonly name: string
  /** Until when an issuer vouches for it; absent for a token of ours, whose row is asked. */
  readonly vouchedUntil?: Date
}

/** One for whom an issuer vouches: who it is there, what it may do here, and for how long. */
export type Principal = {
  issuer: string
  subject: string
  name: string
  grants: readonly Grant[]
  expiresAt: Date
}

/**
 * The session of a principal. Its token id is made of issuer and subject, so the same one is known again whichever
 * token it shows: its keys, claims, limits and changes are its own as if it held a token of ours.
 */
export function vouchedSession({ issuer, subject, name, grants, expiresAt }: Principal): Session {
  const digest = createHash('sha256')
    .update(JSON.stringify([issuer, subject]))
    .digest('base64url')
  return { tokenId: `oauth:${digest}`, name, key: null, access: compileAccess(grants), expiresAt }
}

/** The session as a scope names it. */
export const actorOf = ({ tokenId, name, key, expiresAt }: Session): Actor => ({
  tokenId,
  name,
  ...(key === null && expiresAt && { vouchedUntil: expiresAt }),
})
