/** A step that reads records: it sees what the steps before it wrote. */
import type { Step } from '../../../contract/action-shapes.ts'
import { STEP_SHAPES } from '../../../contract/action-shapes.ts'
import { check, inBody } from '../../../contract/validate.ts'
import { invalid } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { checkJson } from '../../../json/parse.ts'
import { viewOf } from '../../data/ledger/record.ts'
import { listRecords } from '../../records/index.ts'
import { render, TextBudget } from '../../schema/templates/render.ts'
import { queryScope } from './rights.ts'
import type { RunContext, StepOutcome } from './run-context.ts'

/** Rows of the first read. Later ones are as large as the rows that were read allow. */
const FIRST_ROWS = 16

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
    const fits = largest === 0 ? FIRST_ROWS : Math.max(1, Math.floor(reads.left / largest))
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
