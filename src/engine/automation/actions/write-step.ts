/** A step that writes: a batch of one operation. */
import type { Step } from '../../../contract/action-shapes.ts'
import { isObject } from '../../../foundation/is-object.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { uuidv7 } from '../../../foundation/uuid.ts'
import { checkJson } from '../../../json/parse.ts'
import { ID_FIELDS, refIn } from '../../configuration/actions/index.ts'
import { outcomeView, runBatch } from '../../records/batch/run-batch.ts'
import { NeedsUnknown, render, TextBudget, UNKNOWN } from '../../schema/templates/render.ts'
import type { RunContext, StepOutcome } from './run-context.ts'

export async function runWriteStep(context: RunContext, step: Step): Promise<StepOutcome> {
  const { scope, baseId } = context
  const operation = operationOf(context, step)
  checkJson(operation)
  const { data } = await runBatch(scope, baseId, [operation])
  const [outcome] = data
  if (!outcome) throw new Error('A batch of one operation has one outcome.')
  const { record_type, rel_type } = operation
  return {
    result: outcomeView(outcome),
    logged: {
      ...(typeof record_type === 'string' && { record_type }),
      ...(typeof rel_type === 'string' && { rel_type }),
      ...{ operation: outcome.operation, id: outcome.id, version: outcome.version },
    },
  }
}

/** The operation, with values in place of its templates. */
function operationOf({ values, run }: RunContext, { name, ...step }: Step): Record<string, unknown> {
  const refs = Object.fromEntries(ID_FIELDS.flatMap((key) => refOf(key, step[key], values.steps)))
  const rendered = render({ ...step, ...refs }, values, new TextBudget(LIMITS.stepChars)) as Record<
    string,
    unknown
  >
  if (step.type !== 'create_record' || rendered['id'] !== undefined) return rendered
  const id = run.ids.get(name) ?? uuidv7()
  run.ids.set(name, id)
  return { ...rendered, id }
}

/** A `$ref` as it is written, with the id of the step that it names. */
function refOf(
  key: string,
  field: unknown,
  steps: ReadonlyMap<string, unknown>,
): [key: string, id: unknown][] {
  const name = refIn(field)
  if (name === undefined) return []
  const step = steps.get(name)
  if (step === UNKNOWN) throw new NeedsUnknown()
  if (step === null) return [[key, null]]
  return isObject(step) ? [[key, step['id']]] : []
}
