/** Stored plans: what was asked, by whom, and the state that the plan describes. */
import { randomBytes } from 'node:crypto'
import { digest, digestInTurns } from '../../../contract/canonical-hash.ts'
import { invalid } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { parseSound } from '../../../json/parse.ts'
import { jsonInTurns } from '../../../json/write.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import type { Scope } from '../scope.ts'

/** A plan as it is stored. */
export type StoredPlan = {
  readonly requestHash: string
  readonly state: string
  readonly expiresAt: number
  /** By the clock of the database, as are the times of changes. */
  readonly plannedAt: number
}

/** The token of a plan. It is short, because models repeat it letter by letter. */
const TOKEN_BYTES = 16
const TOKEN = /^[\w-]{22}$/

/** Stores a plan. Older plans of the caller go when they are too many, or too large together. */
const KEEP = statement(
  'keep_plan',
  `WITH own AS MATERIALIZED (
     SELECT id, row_number() OVER newest AS place, sum(bytes) OVER newest AS total
     FROM plinth.plan WHERE caller = $2 WINDOW newest AS (ORDER BY created_at DESC, id)),
   gone AS (
     DELETE FROM plinth.plan p USING own
     WHERE p.id = own.id AND (own.place >= ${LIMITS.plansOfCaller} OR own.total + $6::int > ${LIMITS.planBytes}))
   INSERT INTO plinth.plan (id, caller, request_hash, state, request, bytes, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6::int, $7)`,
)
const FIND = statement(
  'find_plan',
  'SELECT caller, request_hash, state, expires_at, created_at FROM plinth.plan WHERE id = $1',
)
const FIND_REQUEST = statement(
  'find_planned_request',
  'SELECT caller, request FROM plinth.plan WHERE id = $1',
)
const EXPIRE = statement(
  'expire_plans',
  `DELETE FROM plinth.plan WHERE ctid = ANY (ARRAY(SELECT ctid FROM plinth.plan
     WHERE created_at < now() - make_interval(mins => ${LIMITS.planKeptMinutes}) LIMIT 1000))`,
)

// A plan grants no rights. It is valid only for the same caller with the same grants and policy.
const callerOf = ({ actor, access, policy }: Scope) =>
  digest([actor.tokenId, actor.name, access.grants, policy?.name ?? null])

/** Stores the plan of a request in a state, and returns its token. */
export async function keepPlan(
  scope: Scope,
  request: unknown,
  state: string,
): Promise<{ token: string; expiresAt: string }> {
  const token = randomBytes(TOKEN_BYTES).toString('base64url')
  const expiresAt = new Date(Date.now() + LIMITS.planMinutes * 60_000)
  const [hash, text = ''] = await Promise.all([digestInTurns(request), jsonInTurns(request)])
  const bytes = Buffer.byteLength(text)
  await scope.db.query(KEEP, [token, callerOf(scope), hash, state, text, bytes, expiresAt])
  return { token, expiresAt: expiresAt.toISOString() }
}

/**
 * Finds the plan of a token.
 * @throws VALIDATION_ERROR when there is none, or it is another caller's
 */
export async function findPlan(scope: Scope, token: string): Promise<StoredPlan> {
  type Row = { request_hash: string; state: string; expires_at: Date; created_at: Date }
  const { request_hash, state, expires_at, created_at } = await find<Row>(FIND, scope, token)
  return {
    requestHash: request_hash,
    state,
    expiresAt: expires_at.getTime(),
    plannedAt: created_at.getTime(),
  }
}

/**
 * The request that a plan was made for, so that its token alone confirms it.
 * @throws VALIDATION_ERROR when there is no such plan, or it is another caller's
 */
export async function plannedRequest(scope: Scope, token: string): Promise<unknown> {
  const { request } = await find<{ request: string }>(FIND_REQUEST, scope, token)
  return parseSound(request)
}

async function find<Row>(how: typeof FIND, scope: Scope, token: string): Promise<Row> {
  const [row] = TOKEN.test(token) ? await scope.db.query<Row & { caller: string }>(how, [token]) : []
  if (!row)
    throw planRefused(
      'invalid_plan_token',
      'The plan_token is not valid. Send it exactly as it was returned.',
    )
  if (row.caller !== callerOf(scope))
    throw planRefused(
      'plan_of_another_token',
      'The plan belongs to another token, or the grants have changed.',
    )
  return row
}

/** Deletes old plans, a bounded number per call. */
export async function expirePlans(db: Db): Promise<void> {
  await db.query(EXPIRE, [])
}

/** Error for a plan token that does not fit the request. */
const planRefused = (code: string, message: string) =>
  invalid({
    path: '/plan_token',
    code,
    message: `${message} Call without plan_token for a plan of this call.`,
  })

/** Error for a plan of another request. */
export const planOfAnotherCall = () =>
  planRefused(
    'plan_of_another_call',
    'The plan belongs to another call. Send plan_token alone to the same place, or with the same arguments.',
  )
