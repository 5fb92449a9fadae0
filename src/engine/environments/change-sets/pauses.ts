/** Pauses of tokens, by their pace or by a person: each is the open review request that a person ends. */
import { anyPreviewOf } from '../../../contract/ids.ts'
import type { ActorKind } from '../../../contract/shapes.ts'
import { type DomainError, oneFault } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { uuidv7 } from '../../../foundation/uuid.ts'
import { renewSessions, tokenNotFound } from '../../configuration/tokens/remove.ts'
import { requireExistingBase } from '../../core/existing-base.ts'
import type { Scope } from '../../core/scope.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { isPausedBy, requirePermission } from '../../storage/access/access.ts'
import { compileAccess } from '../../storage/access/compile-access.ts'
import type { Grant } from '../../storage/access/grants.ts'
import type { Actor } from '../../storage/access/token-session.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import { authorOf, logRequest, type Pause, storedAuthor } from '../review-request-row.ts'
import { baseKey, ownerOf } from './counts.ts'

const PAUSED = statement(
  'paused_token',
  `SELECT id, note, asked AS pause FROM plinth.review_request
   WHERE base_id = $1 AND from_base = $1 AND token_id = ${ownerOf('$2')} AND state = 'open'`,
)
const WROTE = statement(
  'writes_of_pause',
  `SELECT change_set, kind, record_type, count(*)::int AS count FROM (
     SELECT NULL AS change_set, c.kind, c.record_type, c.token_id FROM (
       SELECT * FROM plinth.change WHERE base_id = $1 ORDER BY seq DESC LIMIT ${LIMITS.pausedEntries}) c
     WHERE c.at >= $3::timestamptz AND c.kind IN ('record', 'relationship')
     UNION ALL
     SELECT d.branch, d.kind, nullif(d.record_type, ''), d.token_id FROM plinth.base b JOIN plinth.draft_change d ON d.branch = b.id
     WHERE b.production_base = $1 AND d.at >= $3::timestamptz) w
   WHERE ${ownerOf('w.token_id')} = $2
   GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 2, 3 LIMIT ${LIMITS.errorDetails}`,
)
const RESUME = statement(
  'resume_token',
  `INSERT INTO plinth.automatic_write AS w (token_id, rule, since, used, allowed) VALUES ($1, $2, date_trunc('hour', now()), 0, $3)
   ON CONFLICT (token_id, rule, since) DO UPDATE SET allowed = w.used + excluded.allowed`,
)
const OWNER = statement('owner_of_token', `SELECT ${ownerOf('$1')} AS id`)

export type OpenPause = { readonly id: string; readonly note: string | null; readonly pause: Pause }

export async function openPause(
  { db }: Scope,
  baseId: string,
  tokenId: string | null,
): Promise<OpenPause | undefined> {
  const [open] = await db.query<OpenPause>(PAUSED, [baseId, tokenId])
  return open
}

/** Opens the request that a person resumes the token with: one, however often it is asked for. */
export async function pause(
  scope: Scope,
  baseId: string,
  { name, kind = 'program' }: Pick<Actor, 'name' | 'kind'>,
  past: Omit<Pause, 'wrote'>,
  note: string | null = null,
): Promise<OpenPause> {
  return scope.db.transaction(async (tx) => {
    const wrote = await tx.query<Pause['wrote'][number]>(WROTE, [baseId, past.token_id, past.since])
    const asked = {
      ...past,
      wrote,
      ...(past.paused_by && { writes: wrote.reduce((sum, { count }) => sum + count, 0) }),
    }
    const data = {
      ...{ baseId, id: uuidv7(), kind: 'pause', fromBase: baseId, asked: asked as object, breaks: [], note },
      ...{ tokenId: past.token_id, actorName: name, actorKind: kind, via: scope.via, createdAt: new Date() },
      ...{ title: `${name} is paused`.slice(0, LIMITS.nameChars), summary: summaryOf(asked) },
    }
    const [made] = await tx.orm.reviewRequest.createManyAndReturn({ data: [data], skipDuplicates: true })
    if (made) await logRequest({ ...scope, db: tx }, made, 'create')
    return (
      (await openPause({ ...scope, db: tx }, baseId, past.token_id)) ?? { id: data.id, note, pause: asked }
    )
  })
}

/** The token whose pause holds for a token: for a tab, the one that opened it. */
export async function ownerOfToken(db: Db, id: string): Promise<string> {
  const [owner] = await db.query<{ id: string }>(OWNER, [id])
  return owner?.id ?? id
}

/**
 * Pauses a token in a base by hand, and returns the id of the request that resumes it. One that is paused stays so.
 * @throws FORBIDDEN without `write` on all of the base, and `admin` where the token has it; NOT_FOUND
 */
export async function pauseByHand(
  scope: WriteScope,
  baseId: string,
  owner: string,
  note: string | null,
): Promise<string> {
  requirePermission(scope.access, 'write', baseId, '*')
  await requireExistingBase(scope, baseId)
  const token = await scope.db.orm.token.findUnique({ where: { id: owner } })
  const access = compileAccess((token?.grants ?? []) as unknown as Grant[])
  if (!token || !(access.knows(baseId) || access.knows(anyPreviewOf(baseId)))) throw tokenNotFound(owner)
  if (access.allows('admin', baseId, '*')) requirePermission(scope.access, 'admin', baseId, '*')
  const now = Date.now()
  const past = {
    ...{ token_id: owner, since: new Date(now - (now % HOUR_MS)).toISOString(), writes: 0, refused: 0 },
    ...{ usual: 0, allowed: 0, paused_by: storedAuthor(authorOf(scope)) },
  }
  return scope.db.transaction(async (tx) => {
    const within = { ...scope, db: tx }
    const { id } = await pause(
      within,
      baseId,
      { name: token.name, kind: token.kind as ActorKind },
      past,
      note,
    )
    await renewSessions(within, owner)
    return id
  })
}
const HOUR_MS = 3_600_000

/** Lets a token go on: in this hour as far again as its pace has paused it for. */
export async function resume(scope: WriteScope, baseId: string, pause: Pause): Promise<void> {
  const { token_id: tokenId, allowed, refused, paused_by: byHand } = pause
  if (byHand) await renewSessions(scope, tokenId)
  else await scope.db.query(RESUME, [tokenId, baseKey(baseId), Math.max(allowed, refused)])
}

const summaryOf = ({ writes, since, usual, paused_by: byHand }: Pause): string =>
  `${byHand ? `paused by ${byHand.name}; ` : ''}${writes} changes since ${since.slice(11, 16)} UTC` +
  (byHand ? '' : `, and more were refused; usually ${usual} in an hour`)

export function isPaused(baseId: string, { id: request, note, pause }: OpenPause): DomainError {
  const { writes, refused, usual, allowed, paused_by: byHand } = pause
  if (byHand) return isPausedBy(baseId, { request, by: byHand.name, note })
  const message = `The token is paused in base "${baseId}": it wrote ${writes + refused} changes in an hour, and usually ${usual}.`
  return oneFault('FORBIDDEN', message, {
    path: '',
    code: 'paused',
    message: `Stop writing, and tell a person: review request "${request}" resumes the token. It can read.`,
    expected: { changes_in_an_hour: allowed },
    received: writes + refused,
  })
}
