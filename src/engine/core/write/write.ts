/** Runs every mutation: idempotency, dry run, plans, and a second check of rights. */
import {
  type Detail,
  DomainError,
  type FailureCode,
  invalid,
  toDomainError,
} from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { REDACTED } from '../../../foundation/redacted.ts'
import { nameConflictingRecord } from '../../data/indexes/index.ts'
import { Allowance } from '../../schema/json-schema/compile.ts'
import { LostAnswer, outcomeUnknown } from '../../storage/database/errors.ts'
import { areRightsCurrent, recheckRights } from '../authentication/recheck-rights.ts'
import type { Scope } from '../scope.ts'
import { type Deletion, deletionOf } from './deletion-plan.ts'
import { type DeletionSummary, isNothing } from './deletion-summary.ts'
import { Undone } from './dry-run.ts'
import { claimKey, hashRequest, type Key, refuseUsedKey, type StoredOutcome } from './idempotency.ts'
import { type Approvable, openPlanning, outdated, Planned, type Planning, UNASKED } from './plan-approval.ts'
import { keepPlan } from './plan-store.ts'
import { recordRights, requireRecordedRights, type UsedRight } from './used-rights.ts'

/** Options common to all writes. */
export type WriteOptions<T = object> = {
  dryRun: boolean
  idempotencyKey: string | null
  /** The content of the request. Its hash is compared with that of the request that first sent the key. */
  request: () => unknown
  /** The request can hold secrets, so its stored hash is keyed. */
  carriesSecrets?: boolean
  /** Called when the stored response of an earlier request with the same key is returned. */
  onReplay?: () => void
  /**
   * Preview: return a plan, unless the request has its token. `answer` gets the plan of the review that the
   * write made, with its token.
   */
  plan?: { token: string | null; answer: (plan: Approvable) => T }
}

/** The scope of a write in progress. */
export type WriteScope = Scope & {
  /** Runs after the write is committed; never for a dry run or a failed write. */
  onCommit(effect: () => void): void
  /** Shared time budget of schema validation. */
  readonly checks: Allowance
  /** Set in a dry run, which sends nothing. */
  readonly isRehearsal?: true
  /** Set when the write is shown before it is carried out. */
  readonly planning?: Planning
  /** Running summary of what the transaction deletes. */
  readonly summary?: DeletionSummary
  /** Set when the response says what was deleted: in a dry run, and when the request has an approved plan. */
  readonly onDeletion?: (summary: DeletionSummary) => void
  /** Set when the response says which secrets were made. */
  readonly onSecret?: (kind: string, id: string, secret: string) => void
}

/** What every response can have. */
type Told = { dryRun?: true; deletion?: Deletion }

/**
 * Runs a write: directly, as a dry run that is rolled back, or under an Idempotency-Key whose row commits
 * with it. `work` may run several times, and must write only through the scope it receives.
 */
export function write<T extends object>(
  scope: Scope,
  options: WriteOptions<T>,
  work: (scope: WriteScope) => Promise<T>,
): Promise<T & Told> {
  const { freshness } = scope
  if (!freshness) return carryOut(scope, options, work)
  return freshness.whileWriting(() => carryOut(scope, options, work))
}

async function carryOut<T extends object>(
  scope: Scope,
  options: WriteOptions<T>,
  work: (scope: WriteScope) => Promise<T>,
): Promise<T & Told> {
  const { idempotencyKey, dryRun, request, carriesSecrets = false, onReplay, plan } = options
  if (dryRun && plan?.token) throw nothingToApprove()
  const planning = plan && (dryRun ? UNASKED : await openPlanning(scope, request, plan.token))
  const effects: (() => void)[] = []
  // Store the used rights with the response, because a replay requires the same ones.
  const rights = idempotencyKey === null ? null : recordRights(scope)
  const checks = requestChecks()
  const writing = (db: Scope['db']): WriteScope => ({
    ...(rights?.scope ?? scope),
    db,
    // A write completes even if the client disconnects.
    closed: undefined,
    onCommit: (effect) => void effects.push(effect),
    checks,
    ...(planning && { planning }),
  })
  const run = async (within: WriteScope): Promise<T & Told> => {
    if (!dryRun && !planning?.isApproved) return work(within)
    let deletion: Deletion | undefined
    const onDeletion = (summary: DeletionSummary) => {
      deletion = isNothing(summary) ? undefined : deletionOf(summary)
    }
    const answer = await work({ ...within, onDeletion })
    return { ...answer, ...(deletion && { deletion }) }
  }
  const key =
    idempotencyKey === null
      ? null
      : {
          tokenId: scope.actor.tokenId ?? '',
          key: idempotencyKey,
          request: await hashRequest(scope, request(), carriesSecrets),
        }

  // Rights may have changed while the request waited for its body, for user input or in a queue.
  if (!areRightsCurrent(scope)) await recheckRights(scope)
  if (dryRun) return rehearse(scope, writing, run, key)
  scope.writes.begun++
  try {
    const answer = key
      ? await claimKey<T & Told>(scope, key, {
          waited: (db) => recheckRights({ ...scope, db }),
          run: (db) => run(writing(db)),
          explain: (thrown, db) => explained(scope, thrown, db),
          store: (outcome) =>
            scope.byRules && 'thrown' in outcome
              ? null
              : keep(outcome, scope.requestId, rights?.used() ?? []),
          replay: (stored) => {
            requireRecordedRights(scope, stored.used ?? [])
            onReplay?.()
            return restore<T & Told>(stored)
          },
        })
      : await run(writing(scope.db))
    for (const effect of effects) effect()
    return answer
  } catch (thrown) {
    if (thrown instanceof LostAnswer) throw outcomeUnknown(thrown, key !== null)
    if (!plan || !(thrown instanceof Planned)) throw await explained(scope, thrown)
    // Thrown outside idempotency: a plan or an outdated approval is not the final outcome of the key.
    const { review, refusal } = thrown
    const kept = await keepPlan(scope, request(), review.state)
    if (refusal) throw outdated(review.what, kept.token, refusal)
    return plan.answer({ ...review.plan, ...kept })
  }
}

/** An error with the record in its way. A policy could hide that record, so its caller does not learn of it. */
const explained = async (scope: Scope, thrown: unknown, db = scope.db): Promise<unknown> =>
  scope.policy ? thrown : nameConflictingRecord(db, thrown)

/** The time budget of schema validation of one request. */
export const requestChecks = () => new Allowance(LIMITS.requestCheckSteps, tooManyChecks)

const tooManyChecks = () =>
  invalid({
    path: '',
    code: 'too_complex',
    message: 'Schema validation of this request takes too long. Send it in several requests.',
  })

const nothingToApprove = () =>
  invalid({
    path: '/plan_token',
    code: 'exclusive',
    message: 'plan_token cannot be combined with a dry run. Leave plan_token out.',
  })

async function rehearse<T extends object>(
  scope: Scope,
  writing: (db: Scope['db']) => WriteScope,
  work: (scope: WriteScope) => Promise<T>,
  key: Key | null,
): Promise<T & { dryRun: true }> {
  try {
    return await scope.db.transaction(async (tx) => {
      if (key) await refuseUsedKey({ ...scope, db: tx }, key)
      throw new Undone(await work({ ...writing(tx), isRehearsal: true }))
    })
  } catch (thrown) {
    if (thrown instanceof Undone) return { ...withoutSecrets(thrown.answer as T, () => null), dryRun: true }
    throw await explained(scope, thrown)
  }
}

/** The stored form of an outcome: a response or a CONFLICT. Other errors are not stored. */
function keep(
  outcome: { answer: object } | { thrown: unknown },
  requestId: string,
  used: UsedRight[],
): StoredOutcome | null {
  if ('answer' in outcome)
    return {
      used,
      answer: withoutSecrets(outcome.answer, (secret) => `${secret.slice(0, 4)}…${secret.slice(-4)}`),
    }
  const error = toDomainError(outcome.thrown)
  if (error.code !== 'CONFLICT') return null
  return { used, error: { code: error.code, message: error.message, details: [...error.details], requestId } }
}

function restore<T>(stored: StoredOutcome): T {
  if ('answer' in stored) return stored.answer as T
  const { code, message, details, requestId } = stored.error
  throw new DomainError(code as FailureCode, message, { details: details as Detail[], requestId })
}

/** Response fields that are returned only once. */
const SECRET_FIELDS = ['token', 'code', 'secret', 'accessKeyId', 'secretAccessKey', 'sessionToken']

function withoutSecrets<T extends object>(answer: T, hide: (secret: string) => string | null): T {
  const { secrets } = answer as { secrets?: unknown }
  const hidden = SECRET_FIELDS.flatMap((field) => {
    const value = (answer as Record<string, unknown>)[field]
    return typeof value === 'string' && value !== REDACTED ? [[field, hide(value)]] : []
  })
  return {
    ...answer,
    ...Object.fromEntries(hidden),
    ...(Array.isArray(secrets) && { secrets: secrets.map((each: object) => withoutSecrets(each, hide)) }),
  }
}
