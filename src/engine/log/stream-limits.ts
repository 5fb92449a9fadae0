import { isDeepStrictEqual } from 'node:util'
import { DomainError } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import type { Log } from '../../foundation/log.ts'
import { type Access, wholeGrants } from '../storage/access/access.ts'
import type { Grant } from '../storage/access/grants.ts'
import type { Actor } from '../storage/access/token-session.ts'
import { type Db, statement } from '../storage/database/client.ts'

/**
 * Slot of an open stream. `signal` aborts when the token is revoked, the base is deleted or the server stops.
 */
export type Slot = { readonly signal: AbortSignal; end(): void }

/** Registry of the open streams of the process. */
export type Streams = {
  /**
   * Opens a stream until `closed` aborts, which means that the client disconnected. Without a base, the
   * stream belongs to the account.
   * @throws RATE_LIMITED when the token has too many streams
   */
  open(subscriber: Subscriber, baseId: string | null, closed: AbortSignal | undefined): Slot
  /** Ends all streams and rejects new ones. */
  close(): void
}

/** The owner of a stream, and its rights at the start. */
export const subscriberOf = ({ actor, access }: { actor: Actor; access: Access }): Subscriber => ({
  tokenId: actor.tokenId ?? '',
  grants: wholeGrants(access),
  issuedUntil: actor.issuedUntil ?? null,
})

type Subscriber = {
  tokenId: string
  grants: readonly Grant[]
  /** Expiry of an issuer's token; null for a Plinth token. */
  issuedUntil: Date | null
}
type Open = Subscriber & { baseId: string | null; end: () => void }

const STILL_VALID = statement(
  'streams_standing',
  `SELECT ARRAY(SELECT b.id FROM plinth.base b WHERE b.id = ANY ($2::text[])) AS bases,
     coalesce((SELECT jsonb_object_agg(t.id, t.grants) FROM plinth.token t
       WHERE t.id = ANY ($1::text[]) AND (t.expires_at IS NULL OR t.expires_at > now())), '{}') AS tokens`,
)

export function openStreams(db: Db, log: Log): Streams {
  const open = new Set<Open>()
  let closed = false
  let isScheduled = false

  /** Checks all streams with one query. Ends those whose token or base is gone, or whose grants changed. */
  const check = async (): Promise<void> => {
    const all = [...open]
    const names = (of: (stream: Open) => string | null) => [...new Set(all.map(of))]
    const [row] = await db.query<{ bases: string[]; tokens: Record<string, Grant[]> }>(STILL_VALID, [
      names((stream) => stream.tokenId),
      names((stream) => stream.baseId),
    ])
    for (const { tokenId, grants, issuedUntil, baseId, end } of all) {
      const baseExists = baseId === null || row?.bases.includes(baseId)
      const isValid = issuedUntil ? issuedUntil > new Date() : isDeepStrictEqual(row?.tokens[tokenId], grants)
      if (!baseExists || !isValid) end()
    }
  }
  const checkOpen = async (): Promise<void> => {
    if (open.size > 0)
      await check().catch((err) => log.warn({ err }, 'the rights of open streams could not be looked at'))
    isScheduled = false
    if (open.size > 0) schedule()
  }
  const schedule = () => {
    if (isScheduled) return
    isScheduled = true
    setTimeout(() => void checkOpen(), LIMITS.streamCheckMs).unref()
  }
  return {
    open(subscriber, baseId, left) {
      const own = [...open].filter((stream) => stream.tokenId === subscriber.tokenId).length
      if (own >= LIMITS.streamsOfToken) throw tooManyStreams()
      const over = new AbortController()
      const end = () => {
        open.delete(stream)
        over.abort()
      }
      const stream: Open = { ...subscriber, baseId, end }
      if (closed) over.abort()
      else open.add(stream)
      if (left?.aborted) end()
      else left?.addEventListener('abort', end, { once: true })
      schedule()
      return { signal: over.signal, end }
    },
    close() {
      closed = true
      for (const { end } of open) end()
    },
  }
}

const tooManyStreams = () =>
  new DomainError('RATE_LIMITED', `A token has at most ${LIMITS.streamsOfToken} open streams.`, {
    retryAfterSeconds: 1,
    details: [
      {
        path: '',
        code: 'too_many_streams',
        message: 'Close a stream, or let several readers share one.',
        expected: LIMITS.streamsOfToken,
      },
    ],
  })
