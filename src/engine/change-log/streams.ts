import { isDeepStrictEqual } from 'node:util'
import { DomainError } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { type Access, type Grant, wholeGrants } from '../access/access.ts'
import type { Actor } from '../access/session.ts'
import { type Db, statement } from '../database/client.ts'

/** The right to one open stream. `signal` aborts when it must end: the token, the base or the server goes. */
export type Slot = { readonly signal: AbortSignal; end(): void }

/** All open streams of the process. */
export type Streams = {
  /**
   * Until `closed` aborts, when the one who reads has gone; without a base it is of the account.
   * @throws RATE_LIMITED when the token has as many as it may
   */
  open(holder: Holder, baseId: string | null, closed: AbortSignal | undefined): Slot
  /** Ends them all; none opens any more. */
  close(): void
}

/** Whose stream it is, and with what rights it was opened. */
export const holderOf = ({ actor, access }: { actor: Actor; access: Access }): Holder => ({
  tokenId: actor.tokenId ?? '',
  grants: wholeGrants(access),
  vouchedUntil: actor.vouchedUntil ?? null,
})

type Log = { warn(fields: object, message: string): void }
type Holder = {
  tokenId: string
  grants: readonly Grant[]
  /** Until when an issuer vouches for it; null for a token of ours. */
  vouchedUntil: Date | null
}
type Open = Holder & { baseId: string | null; end: () => void }

const STANDING = statement(
  'streams_standing',
  `SELECT ARRAY(SELECT b.id FROM plinth.base b WHERE b.id = ANY ($2::text[])) AS bases,
     coalesce((SELECT jsonb_object_agg(t.id, t.grants) FROM plinth.token t
       WHERE t.id = ANY ($1::text[]) AND (t.expires_at IS NULL OR t.expires_at > now())), '{}') AS tokens`,
)

export function openStreams(db: Db, log: Log): Streams {
  const open = new Set<Open>()
  let closed = false
  let isScheduled = false

  /** One look for all of them: a stream ends when its token or its base is gone, or the token's grants are others. */
  const check = async (): Promise<void> => {
    const all = [...open]
    const names = (of: (stream: Open) => string | null) => [...new Set(all.map(of))]
    const [row] = await db.query<{ bases: string[]; tokens: Record<string, Grant[]> }>(STANDING, [
      names((stream) => stream.tokenId),
      names((stream) => stream.baseId),
    ])
    for (const { tokenId, grants, vouchedUntil, baseId, end } of all) {
      const baseStands = baseId === null || row?.bases.includes(baseId)
      const stands = vouchedUntil
        ? vouchedUntil > new Date()
        : isDeepStrictEqual(row?.tokens[tokenId], grants)
      if (!baseStands || !stands) end()
    }
  }
  const look = async (): Promise<void> => {
    if (open.size > 0)
      await check().catch((err) => log.warn({ err }, 'the rights of open streams could not be looked at'))
    isScheduled = false
    if (open.size > 0) schedule()
  }
  const schedule = () => {
    if (isScheduled) return
    isScheduled = true
    setTimeout(() => void look(), LIMITS.streamCheckMs).unref()
  }
  return {
    open(holder, baseId, left) {
      const own = [...open].filter((stream) => stream.tokenId === holder.tokenId).length
      if (own >= LIMITS.streamsOfToken) throw tooManyStreams()
      const over = new AbortController()
      const end = () => {
        open.delete(stream)
        over.abort()
      }
      const stream: Open = { ...holder, baseId, end }
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
