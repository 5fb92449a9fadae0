/** Whether a step is to be done: its condition over the input and the steps before it. */
import { LIMITS } from '../../../foundation/limits.ts'
import { checkJson } from '../../../json/parse.ts'
import { mapTemplated, parseWhen, type When } from '../../configuration/actions/index.ts'
import { namedFilter } from '../../data/filter/bind.ts'
import { compileFilter } from '../../data/filter/compile.ts'
import { Parameters } from '../../data/filter/parameters.ts'
import { operandsOver } from '../../data/filter/record-operands.ts'
import type { FieldPath } from '../../schema/compiled-types/field-path.ts'
import { referenceOf } from '../../schema/templates/parse.ts'
import { render, resolve, TextBudget } from '../../schema/templates/render.ts'
import { shaped } from '../../storage/database/client.ts'
import type { RunContext } from './run-context.ts'

const NO_SCHEMA = { jsonSchema: {}, timezone: 'UTC' }

/** @throws VALIDATION_ERROR for a value that its operator does not take; NeedsUnknown */
export async function meetsWhen({ scope, values }: RunContext, when: unknown): Promise<boolean> {
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
