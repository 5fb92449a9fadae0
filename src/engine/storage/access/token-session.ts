import { hash } from 'node:crypto'
import type { ActorKind } from '../../../contract/shapes.ts'
import type { Access } from './access.ts'
import { compileAccess } from './compile-access.ts'
import type { Grant } from './grants.ts'

/** A verified token with its compiled rights. */
export type TokenSession = {
  tokenId: string
  /** Key in the session cache; null for a token of an OAuth issuer, which ends only at its expiry. */
  key: string | null
  name: string
  /** Who uses the token; absent for a program. */
  kind?: ActorKind
  /** Whether it is the token of a browser tab. */
  isTab?: boolean
  access: Access
  expiresAt: Date | null
  endsAt?: number
}

/** The author of writes. */
export type Actor = {
  readonly tokenId: string | null
  readonly name: string
  /** Absent for a program. */
  readonly kind?: ActorKind
  /** Expiry of an issuer's token; absent for a Plinth token, whose row is checked instead. */
  readonly issuedUntil?: Date
}

/** An identity verified by an OAuth issuer: its subject, its rights, and its expiry. */
export type Principal = {
  issuer: string
  subject: string
  name: string
  grants: readonly Grant[]
  expiresAt: Date
}

/**
 * Creates the session of a principal. The token id derives from issuer and subject, so that all tokens of a
 * principal share idempotency keys, claims, limits and changes. They are used at `/mcp` only: by an agent.
 */
export function issuedSession({ issuer, subject, name, grants, expiresAt }: Principal): TokenSession {
  return {
    tokenId: `oauth:${hash('sha256', JSON.stringify([issuer, subject]), 'base64url')}`,
    name,
    kind: 'agent',
    key: null,
    access: compileAccess(grants),
    expiresAt,
  }
}

/** The author that a session's writes are logged under. */
export const actorOf = ({ tokenId, name, kind, key, expiresAt }: TokenSession): Actor => ({
  tokenId,
  name,
  ...(kind && { kind }),
  ...(key === null && expiresAt && { issuedUntil: expiresAt }),
})
