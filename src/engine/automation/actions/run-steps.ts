/** The steps of a run, one after the other in its transaction. */
import type { Step } from '../../../contract/action-shapes.ts'
import { invalid } from '../../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { secretTexts } from '../../configuration/actions/index.ts'
import { resolveSecrets } from '../../configuration/vault-secrets/index.ts'
import type { RunnableAction, RunState } from '../../core/run-state.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { NeedsUnknown, UNKNOWN, type Values } from '../../schema/templates/render.ts'
import { atStep } from './failures.ts'
import { runHttpStep } from './http-step.ts'
import { runQueryStep } from './query-step.ts'
import type { RequireOwnUrl, RunContext, StepOutcome, StepResult } from './run-context.ts'
import { meetsWhen } from './when.ts'
import { runWriteStep } from './write-step.ts'

/** A step in the log of runs. */
type LoggedStep = {
  name: string
  type: string
  status: 'not_run' | 'succeeded' | 'failed' | 'skipped'
  [more: string]: unknown
}

export type Steps = {
  readonly values: Values
  /** The steps as the log keeps them, as far as they are. */
  readonly log: readonly object[]
  runAll(): Promise<StepResult[]>
}

export async function openSteps(
  scope: WriteScope,
  { baseId, steps }: RunnableAction,
  run: RunState,
  { input, requireOwnUrl }: { readonly input: unknown; readonly requireOwnUrl: RequireOwnUrl },
): Promise<Steps> {
  const texts = steps.flatMap(secretTexts)
  const secrets = await resolveSecrets(scope, baseId, texts)
  const done = new Map<string, unknown>()
  const values: Values = { input, steps: done, secret: secrets.valueNamed }
  const log = steps.map(({ name, type }): LoggedStep => ({ name, type, status: 'not_run' }))
  const context: RunContext = {
    ...{ scope, baseId, run, values, secrets: secrets.valuesIn(texts), requireOwnUrl },
    reads: { left: LIMITS.runReadBytes },
    deadline: run.startedAt.getTime() + LIMITS.runMs,
  }
  /** `result` is what later steps read of it. */
  const leftOut = ({ name, type }: Step, entry: LoggedStep, result: unknown): StepResult => {
    done.set(name, result)
    entry.status = 'skipped'
    return { name, type, skipped: true }
  }
  const runOne = async (step: Step, entry: LoggedStep): Promise<StepResult> => {
    const { name, type } = step
    if (turnIsOver()) await nextTurn()
    try {
      if (Date.now() > context.deadline) throw tooLong()
      const { when, ...work } = step
      if (when !== undefined && !(await meetsWhen(context, when))) return leftOut(step, entry, null)
      const { result, logged } = await runStep(context, work)
      done.set(name, result)
      Object.assign(entry, { status: 'succeeded', ...logged })
      return { name, type, ...result }
    } catch (thrown) {
      if (thrown instanceof NeedsUnknown) return leftOut(step, entry, UNKNOWN)
      entry.status = 'failed'
      throw atStep(thrown, name, run.id)
    }
  }
  return {
    values,
    log,
    runAll: async () => {
      const results: StepResult[] = []
      for (const [n, step] of steps.entries()) results.push(await runOne(step, log[n] as LoggedStep))
      return results
    },
  }
}

function runStep(context: RunContext, step: Step): Promise<StepOutcome> {
  if (step.type === 'query') return runQueryStep(context, step)
  if (step.type === 'http') return runHttpStep(context, step)
  return runWriteStep(context, step)
}

const tooLong = () =>
  invalid({
    path: '',
    code: 'too_long',
    message: `A run may take ${LIMITS.runMs / 1000} s. Do less in one run.`,
    expected: LIMITS.runMs,
  })
