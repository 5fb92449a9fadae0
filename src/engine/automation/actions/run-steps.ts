/** The steps of a run, one after the other in its transaction. */
import type { Step } from '../../../contract/action-shapes.ts'
import { invalid, oneFault } from '../../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { checkJson } from '../../../json/parse.ts'
import { mapTemplated, parseWhen, secretTexts, type When } from '../../configuration/actions/index.ts'
import { resolveSecrets } from '../../configuration/vault-secrets/index.ts'
import type { RunnableAction, RunState } from '../../core/run-state.ts'
import type { WriteScope } from '../../core/write/write.ts'
import { namedFilter } from '../../data/filter/check-fields.ts'
import { compileFilter } from '../../data/filter/compile.ts'
import { Parameters } from '../../data/filter/parameters.ts'
import { operandsOver } from '../../data/filter/record-operands.ts'
import type { FieldPath } from '../../schema/compiled-types/field-path.ts'
import { referenceOf } from '../../schema/templates/parse.ts'
import {
  NeedsUnknown,
  render,
  resolve,
  TextBudget,
  UNKNOWN,
  type Values,
} from '../../schema/templates/render.ts'
import { shaped } from '../../storage/database/client.ts'
import { runQueryStep, runWriteStep } from './data-steps.ts'
import { runHttpStep } from './http-step.ts'
import { atStep } from './rights.ts'
import type { RequireOwnUrl, RunContext, StepOutcome, StepResult } from './run-context.ts'

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
      if (scope.withdrawn?.().aborted) throw takenBack()
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

const takenBack = () =>
  oneFault('CONFLICT', 'The call was cancelled.', {
    path: '',
    code: 'cancelled',
    message:
      'The run ended before this step, and nothing of it was stored. Run the action again if it is still wanted.',
  })

// Whether a step is to be done: its condition over the input and the steps before it.

const NO_SCHEMA = { jsonSchema: {}, timezone: 'UTC' }

/** @throws VALIDATION_ERROR for a value that its operator does not take; NeedsUnknown */
async function meetsWhen({ scope, values }: RunContext, when: unknown): Promise<boolean> {
  const budget = new TextBudget(LIMITS.stepChars)
  const filled = mapTemplated(when, (part) => ({
    ...part,
    value: render(part['value'], values, budget) ?? null,
  }))
  checkJson(filled)
  // Only the values that the condition reads are sent to the database.
  const read: unknown[] = []
  const placed = placeFields(parseWhen(filled, '/when'), (path, name) => {
    const value = resolve(referenceOf(path, name), values)
    budget.take(value, '/when')
    const end = path.indexOf(null)
    return [read.push(value ?? null) - 1, ...(end < 0 ? [] : path.slice(end))]
  })
  checkJson(read)
  const parameters = new Parameters()
  const none = (): never => {
    throw new Error('A condition of a step has no columns and no search')
  }
  const condition = compileFilter(namedFilter(placed), operandsOver<never>(NO_SCHEMA, parameters, none, none))
  const data = parameters.add(JSON.stringify(read))
  const { text, values: bound } = parameters.bind(
    `SELECT (${condition}) AS met FROM (SELECT ${data}::jsonb AS data) AS r`,
  )
  const [row] = await scope.db.query<{ met: boolean | null }>(shaped(text), bound)
  return row?.met === true
}

/** The condition with the paths of its fields replaced. */
function placeFields(filter: When, place: (path: FieldPath, name: string) => FieldPath): When {
  if (filter.kind === 'condition') {
    const { field, name } = filter
    return field.kind === 'data' ? { ...filter, field: { ...field, path: place(field.path, name) } } : filter
  }
  if (filter.kind === 'linked') return filter
  if (filter.kind === 'not') return { kind: 'not', of: placeFields(filter.of, place) }
  return { kind: filter.kind, of: filter.of.map((each) => placeFields(each, place)) }
}
