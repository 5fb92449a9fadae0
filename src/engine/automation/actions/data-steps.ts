/** Steps that write, as a batch of one operation, and steps that read records. */
import { STEP_SHAPES, type Step } from '../../../contract/action-shapes.ts'
import { check, inBody } from '../../../contract/validate.ts'
import { invalid } from '../../../foundation/errors.ts'
import { isObject } from '../../../foundation/is-object.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { uuidv7 } from '../../../foundation/uuid.ts'
import { checkJson } from '../../../json/parse.ts'
import { ID_FIELDS, refIn } from '../../configuration/actions/index.ts'
import { viewOf } from '../../data/ledger/record.ts'
import { outcomeView, runBatch } from '../../records/batch/run-batch.ts'
import { listRecords } from '../../records/index.ts'
import { NeedsUnknown, render, TextBudget, UNKNOWN } from '../../schema/templates/render.ts'
import { queryScope } from './rights.ts'
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

/** A step that reads records: it sees what the steps before it wrote. */
export async function runQueryStep(
  { scope: caller, baseId, values, reads }: RunContext,
  { name: _, ...step }: Step,
): Promise<StepOutcome> {
  const rendered = render(step, values, new TextBudget(LIMITS.stepChars))
  checkJson(rendered)
  const {
    record_type: recordType,
    filter,
    sort,
    limit = LIMITS.pageDefault,
  } = check(STEP_SHAPES.query, rendered, inBody())
  const scope = queryScope(caller, baseId, step['record_type'], recordType)
  const data: object[] = []
  let [cursor, hasMore, largest] = [null as string | null, true, 0]
  // A read in a transaction takes all of its rows into memory, so it is made in parts.
  while (hasMore && data.length < limit) {
    const fits = largest === 0 ? LIMITS.queryStepRows : Math.max(1, Math.floor(reads.left / largest))
    const page = await listRecords(scope, baseId, recordType, {
      ...{ filter, sort, cursor },
      limit: Math.min(limit - data.length, fits),
    })
    for (const record of page.data()) {
      const text = JSON.stringify(viewOf(record))
      reads.left -= text.length
      largest = Math.max(largest, text.length)
      if (reads.left < 0) throw tooLarge()
      // As JSON: times are text, and the row is a copy.
      data.push(JSON.parse(text) as object)
    }
    hasMore = page.hasMore
    cursor = page.nextCursor ?? null
  }
  return {
    result: { data, meta: { has_more: hasMore, limit } },
    logged: { record_type: recordType, count: data.length },
  }
}

const tooLarge = () =>
  invalid({
    path: '/limit',
    code: 'too_large',
    message: `The queries of a run can read ${LIMITS.runReadBytes} bytes of records. Lower limit, or narrow the filter.`,
    expected: LIMITS.runReadBytes,
  })
