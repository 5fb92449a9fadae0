import { type Detail, DomainError, type FailureCode, toDomainError } from '../errors.ts'
import { claimKey, type Key, refuseUsedKey, type StoredOutcome } from './idempotency.ts'
import type { Scope } from './scope.ts'

/** How a write is to be run; the same for every write there is. */
export type WriteOptions = {
  dryRun: boolean
  idempotencyKey: string | null
  /** Names the request, for comparison with the one a key was first sent with. */
  fingerprint: () => string
  /** Called when the answer is that of an earlier request under the same key. */
  onReplay?: () => void
}

/** The scope of a write in progress. */
export type WriteScope = Scope & {
  /** Runs after the write is committed; never for a dry run or a failed write. */
  onCommit(effect: () => void): void
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
  options: WriteOptions,
  work: (scope: WriteScope) => Promise<T>,
): Promise<T & { dryRun?: true }> {
  const { idempotencyKey, dryRun, fingerprint, onReplay } = options
  const effects: (() => void)[] = []
  const writing = (db: Scope['db']): WriteScope => ({
    ...scope,
    db,
    onCommit: (effect) => void effects.push(effect),
  })
  const key =
    idempotencyKey === null
      ? null
      : { tokenId: scope.actor.tokenId ?? '', key: idempotencyKey, fingerprint: fingerprint() }

  if (dryRun) return rehearse(scope, writing, work, key)
  const answer = key
    ? await claimKey<T>(scope, key, {
        run: (db) => work(writing(db)),
        store: (outcome) => keep(outcome, scope.requestId),
        replay: (stored) => {
          onReplay?.()
          return restore<T>(stored)
        },
      })
    : await work(writing(scope.db))
  for (const effect of effects) effect()
  return answer
}

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
function keep(outcome: { answer: object } | { thrown: unknown }, requestId: string): StoredOutcome | null {
  if ('answer' in outcome)
    return { answer: withoutSecrets(outcome.answer, (secret) => `${secret.slice(0, 4)}…${secret.slice(-4)}`) }
  const error = toDomainError(outcome.thrown)
  if (error.code !== 'CONFLICT') return null
  return { error: { code: error.code, message: error.message, details: [...error.details], requestId } }
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
