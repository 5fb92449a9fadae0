/** Runs an action: its steps in one transaction, and a row in the log of runs. */

import { productionOf } from '../../../contract/ids.ts'
import { type DomainError, invalid, oneFault, toDomainError } from '../../../foundation/errors.ts'
import { isObject } from '../../../foundation/is-object.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { uuidv7 } from '../../../foundation/uuid.ts'
import { ACTION } from '../../configuration/actions/index.ts'
import { lockConfiguration } from '../../configuration/lifecycle/lock.ts'
import { missing } from '../../configuration/lifecycle/read.ts'
import { bypassed } from '../../core/caches.ts'
import type { RunnableAction, RunState } from '../../core/run-state.ts'
import type { Scope } from '../../core/scope.ts'
import { withSendingSlot } from '../../core/work-slots.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { setCause } from '../../log/entry.ts'
import { compileSchema } from '../../schema/json-schema/compile.ts'
import { NeedsUnknown, render, TextBudget } from '../../schema/templates/render.ts'
import { urlSet } from '../../schema/templates/urls.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import { hasOwnRights, requireRights, stepScope, withoutCause } from './rights.ts'
import type { ActionAddress, RequireOwnUrl, StepResult } from './run-context.ts'
import { keepFailure, keepSuccess } from './run-log.ts'
import { openSteps } from './run-steps.ts'

/** What a run answers. */
export type RunAnswer = {
  readonly runId: string
  readonly status: 'succeeded'
  readonly output: unknown
  readonly steps: readonly StepResult[]
}

/**
 * Opens the run of a request, around its transaction. A run that fails is kept in the log, although what it wrote
 * is undone.
 */
export async function withRun<T>(
  scope: Scope,
  target: ActionAddress,
  work: (scope: Scope) => Promise<T>,
  startedBy: Pick<RunState, 'cause' | 'claim'> = {},
): Promise<T> {
  const startedAt = new Date()
  const [action] = await scope.db.query<RunnableAction>(FIND, [target.baseId, target.id])
  const run: RunState = { id: uuidv7(), startedAt, action, sent: new Map(), ids: new Map(), ...startedBy }
  const running = async () => {
    try {
      return await work({ ...scope, run })
    } catch (thrown) {
      if (run.begun) await keepFailure(scope, target, { ...run, ...run.begun }, toDomainError(thrown))
      throw hasOwnRights(scope, target) ? withoutCause(thrown, run.id) : thrown
    }
  }
  // The slot is taken before the transactions of the run and of its idempotency key.
  return action?.steps.some(({ type }) => type === 'http') ? withSendingSlot(scope, running) : running()
}

const FIND = statement(
  'find_action',
  `SELECT base_id AS "baseId", id, version, input_schema AS "inputSchema", steps, output
   FROM plinth.action WHERE base_id = $1 AND id = $2`,
)

/**
 * Runs an action with an input. If a step fails, nothing is written.
 * @throws FORBIDDEN; NOT_FOUND; VALIDATION_ERROR for the input; what a step throws, with the step and the run
 */
export async function runAction(asked: WriteScope, target: ActionAddress, sent: unknown): Promise<RunAnswer> {
  const scope = stepScope(asked, target)
  const { run } = scope
  if (!run) throw new Error('runAction must be called within withRun')
  const action = await requireAction(asked, target, run.action)
  const input = readInput(scope, action, sent)
  const requireOwnUrl = await ownUrlsOf(scope, action)
  if (!scope.isRehearsal)
    for (const step of action.steps)
      if (step.type === 'http') requireOwnUrl(step, String(step['url']), `/steps/${step.name}`)
  const changesTypes = action.steps.some(({ type }) => type.endsWith('_type'))
  // The steps of an action are the approval of what it deletes.
  const { planning: _, ...unplanned } = scope
  return scope.db[changesTypes ? 'transaction' : 'statements'](async (tx) => {
    const within: WriteScope = {
      ...unplanned,
      db: tx,
      via: 'action',
      ...(changesTypes && { caches: bypassed(scope.caches) }),
    }
    await run.claim?.(tx)
    const steps = await openSteps(within, action, run, { input, requireOwnUrl })
    if (!scope.isRehearsal) run.begun = { version: action.version, input, steps: steps.log }
    await setCause(tx, run.id)
    if (changesTypes) await lockConfiguration(within, action.baseId)
    const results = await steps.runAll()
    const output = outputOf(action, steps.values)
    const shown = hasOwnRights(asked, target) ? results.map(withoutResult) : results
    const answer = { runId: run.id, status: 'succeeded' as const, output, steps: shown }
    await keepSuccess(
      { ...within, via: scope.via },
      action,
      { ...run, version: action.version, input, steps: steps.log },
      output,
    )
    return answer
  })
}

/** A step without what it read or wrote, which its caller may not be allowed to see. */
const withoutResult = ({ name, type, skipped }: StepResult): StepResult => ({
  ...{ name, type },
  ...(skipped && { skipped }),
})

/** The action that was found, if the caller may run it. */
async function requireAction(
  scope: WriteScope,
  target: ActionAddress,
  action: RunnableAction | undefined,
): Promise<RunnableAction> {
  await requireRights(scope, target, null)
  if (!action) throw await missing({ kind: ACTION, scope, ...target })
  await requireRights(stepScope(scope, target), target, action.steps)
  return action
}

/** The input with the defaults of its schema. @throws VALIDATION_ERROR under `/input` */
function readInput({ checks }: WriteScope, { inputSchema }: RunnableAction, sent: unknown): object {
  const input = sent ?? {}
  if (!isObject(input))
    throw invalid({ path: '/input', code: 'type', message: 'input must be an object.', expected: 'object' })
  if (JSON.stringify(input).length > LIMITS.actionInputChars)
    throw invalid({
      path: '/input',
      code: 'too_large',
      message: `An input can have at most ${LIMITS.actionInputChars} characters as JSON. Send less, such as ids in place of records.`,
      expected: LIMITS.actionInputChars,
    })
  const schema = compileSchema(inputSchema, '/input_schema')
  const filled = schema.fill ? (schema.fill(input, LIMITS.actionInputChars, checks) as object) : input
  const [fault, ...more] = schema.validate(filled, '/input', checks)
  if (fault) throw invalid(fault, ...more)
  return filled
}

/** The output; null where it reads what a dry run did not do. */
function outputOf({ output }: RunnableAction, values: Parameters<typeof render>[1]): unknown {
  try {
    return render(output, values, new TextBudget(LIMITS.stepChars), '/output') ?? null
  } catch (thrown) {
    if (thrown instanceof NeedsUnknown) return null
    throw thrown
  }
}

// Keeps actions of previews from calling what production calls.

const URLS = statement(
  'urls_of_production_actions',
  `SELECT DISTINCT s ->> 'url' AS url FROM (
     SELECT json_array_elements(steps) AS s FROM plinth.action WHERE base_id = $1
     UNION ALL SELECT json_array_elements(definition -> 'steps') FROM plinth.fork WHERE base_id = $2 AND kind = 'action') t
   WHERE s ->> 'type' = 'http'`,
)

/**
 * Reads what production calls, for a run in a preview. Urls are compared after templates.
 */
async function ownUrlsOf(
  { db }: { readonly db: Db },
  { baseId, steps }: RunnableAction,
): Promise<RequireOwnUrl> {
  const production = productionOf(baseId)
  if (production === baseId || !steps.some(({ type }) => type === 'http')) return () => {}
  const rows = await db.query<{ url: string }>(URLS, [production, baseId])
  const isOfProduction = urlSet(rows.map(({ url }) => url))
  return (step, url, path) => {
    if (isOfProduction(url)) throw ofProduction(step.name, path)
  }
}

function ofProduction(name: string, path: string): DomainError {
  const message = `The url of step "${name}" is that of an action of production, which a preview does not call. Give the step another url to try it here.`
  return oneFault('CONFLICT', message, { path, code: 'url_of_production' })
}
