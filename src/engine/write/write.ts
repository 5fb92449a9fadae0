/** Runs every mutation: idempotency, dry run, deletion plans, and a second check of rights. */
import { digest, digestInTurns } from '../../contract/canonical-hash.ts'
import {
  type Detail,
  DomainError,
  type FailureCode,
  invalid,
  toDomainError,
} from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { areRightsCurrent, recheckRights } from '../authentication/recheck-rights.ts'
import type { Scope } from '../core/scope.ts'
import { LostAnswer, outcomeUnknown } from '../database/errors.ts'
import { Allowance } from '../json-schema/index.ts'
import type { DeletionPlan } from './deletion-plan.ts'
import type { DeletionSummary } from './deletion-summary.ts'
import { claimKey, type Key, refuseUsedKey, type StoredOutcome } from './idempotency.ts'
import { openPlanning, outdated, Planned, type Planning, UNASKED } from './plan-approval.ts'
import { demandUsed, recordRights, type UsedRight } from './used-rights.ts'

/** How a write is to be run; the same for every write there is. */
export type WriteOptions<T = object> = {
  dryRun: boolean
  idempotencyKey: string | null
  /** Names the request, for comparison with the one a key was first sent with. */
  /** What makes the request what it is; its digest is its fingerprint. */
  request: () => unknown
  /** Called when the answer is that of an earlier request under the same key. */
  onReplay?: () => void
  /** Ask before many things are deleted: answer a plan, unless the token of one comes with the request. */
  plan?: { token: string | null; answer: (plan: DeletionPlan) => T }
}

/** The scope of a write in progress. */
export type WriteScope = Scope & {
  /** Runs after the write is committed; never for a dry run or a failed write. */
  onCommit(effect: () => void): void
  /** What its checks against schemas may take together. */
  readonly checks: Allowance
  /** Set where the request asks first. */
  readonly planning?: Planning
  /** What the transaction takes, so far. */
  readonly taken?: DeletionSummary
}

/** Carries a dry run's answer out of the transaction that it undoes. */
class Undone extends Error {
  readonly answer: unknown
  constructor(answer: unknown) {
    super('dry run')
    this.answer = answer
  }
}

/**
 * The one way to write: plain, as a dry run that is undone, or under an Idempotency-Key whose row commits with the write.
 * `work` may run more than once and must write only through the scope it is given.
 */
export async function write<T extends object>(
  scope: Scope,
  options: WriteOptions<T>,
  work: (scope: WriteScope) => Promise<T>,
): Promise<T & { dryRun?: true }> {
  const { idempotencyKey, dryRun, request, onReplay, plan } = options
  if (dryRun && plan?.token) throw nothingToApprove()
  const planning = plan && (dryRun ? UNASKED : openPlanning(scope, () => digest(request()), plan.token))
  const effects: (() => void)[] = []
  // An answer that is kept says what it took, as a replay takes the same.
  const rights = idempotencyKey === null ? null : recordRights(scope)
  const checks = new Allowance(LIMITS.requestCheckSteps, tooManyChecks)
  const writing = (db: Scope['db']): WriteScope => ({
    ...(rights?.scope ?? scope),
    db,
    // What is written does not depend on who is still there to hear of it.
    closed: undefined,
    onCommit: (effect) => void effects.push(effect),
    checks,
    ...(planning && { planning }),
  })
  const key =
    idempotencyKey === null
      ? null
      : {
          tokenId: scope.actor.tokenId ?? '',
          key: idempotencyKey,
          fingerprint: named(scope, await digestInTurns(request())),
        }

  // The request may have waited since it was let in: for its body, for an answer of its user, or behind others.
  if (!areRightsCurrent(scope)) await recheckRights(scope)
  if (dryRun) return rehearse(scope, writing, work, key)
  try {
    const answer = key
      ? await claimKey<T>(scope, key, {
          waited: (db) => recheckRights({ ...scope, db }),
          run: (db) => work(writing(db)),
          store: (outcome) => keep(outcome, scope.requestId, rights?.used() ?? []),
          replay: (stored) => {
            demandUsed(scope, stored.used ?? [])
            onReplay?.()
            return restore<T>(stored)
          },
        })
      : await work(writing(scope.db))
    for (const effect of effects) effect()
    return answer
  } catch (thrown) {
    if (thrown instanceof LostAnswer) throw outcomeUnknown(thrown, key !== null)
    if (!plan || !(thrown instanceof Planned)) throw thrown
    // Outside of what a key keeps: neither a plan nor the refusal of an old one is the request's last word.
    if (thrown.refusal) throw outdated(thrown.plan, thrown.refusal)
    return plan.answer(thrown.plan)
  }
}

/** What was answered within other bounds, or none, is not the answer to a request within these. */
const named = ({ lens }: Scope, fingerprint: string): string =>
  lens ? digest([fingerprint, lens.name]) : fingerprint

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
    message: 'A dry run needs no plan. Leave plan_token out.',
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
      throw new Undone(await work(writing(tx)))
    })
  } catch (thrown) {
    if (thrown instanceof Undone) return { ...withoutSecrets(thrown.answer as T, () => null), dryRun: true }
    throw thrown
  }
}

/** An outcome as it is stored: an answer, or a CONFLICT. Anything else is not kept. */
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

/** The fields of an answer that are shown once. */
const SECRET_FIELDS = ['token', 'secret']

function withoutSecrets<T extends object>(answer: T, hide: (secret: string) => string | null): T {
  const hidden = SECRET_FIELDS.flatMap((field) => {
    const value = (answer as Record<string, unknown>)[field]
    return typeof value === 'string' ? [[field, hide(value)]] : []
  })
  return { ...answer, ...Object.fromEntries(hidden) }
}
