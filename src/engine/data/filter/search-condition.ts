import { isDeepStrictEqual } from 'node:util'
import type { Column } from '../../../contract/record-columns.ts'
import type { Field, FieldPath } from '../../schema/compiled-types/field-path.ts'
import type { CompiledIndex } from '../indexes/index.ts'
import { compileEntries, compileSearch, compileWhole } from '../search/compile.ts'
import { requireWords } from '../search/words.ts'
import { columnOperand, type FieldContext, type Operand, valueAt } from './operand.ts'
import type { Parameters } from './parameters.ts'
import type { Condition } from './syntax-tree.ts'

type Searched = FieldContext & { readonly indexes: readonly CompiledIndex[] }

/** Compiles searches over `plinth.record AS r`, and reports the SQL of each score. */
export const searchIn = (
  baseId: string,
  type: Searched,
  parameters: Parameters,
  onScore: (score: string) => void,
): ((condition: Condition) => string) =>
  searchOver<Column>(baseId, type, parameters, onScore, (column) => columnOperand(column, type))

/** Compiles searches over other rows `r` with `data`; `operandOf` maps their columns. */
export function searchOver<C extends string>(
  baseId: string,
  type: Searched,
  parameters: Parameters,
  onScore: (score: string) => void,
  operandOf: (column: C) => Operand,
): (condition: Condition<C>) => string {
  return (condition) => {
    const { field, trusted } = condition
    const visible = visiblePart(condition, type)
    const index = textIndexOf(condition, type)
    const value = () => searchedValue(field, operandOf, parameters)
    const { matches, score } = compileSearch({
      words: wordsOf(condition),
      text: () => (visible ? visibleValues(visible, parameters) : value()),
      sized: isWhole(field) ? () => (visible ? visibleOnly(visible, parameters) : value()) : null,
      parameters,
      index: index && !('fields' in index) ? { ...index, baseParam: parameters.add(baseId) } : null,
    })
    if (!trusted) onScore(score)
    return matches
  }
}

/**
 * A subquery of the records that a text index finds, in place of `plinth.record`. The text index drives the
 * plan, and each record is a primary-key look-up. `scoped` restricts `plinth.record AS r` to the type.
 */
export function recordsFound(
  condition: Condition,
  { index, baseId, scoped }: { index: IndexedText; baseId: string; scoped: string },
  parameters: Parameters,
  onScore: (score: string) => void,
): string {
  const baseParam = parameters.add(baseId)
  if ('fields' in index) {
    if (!condition.trusted) onScore('r.score')
    return compileWhole(wordsOf(condition), { ...index, baseParam }, scoped, parameters)
  }
  const indexed = { ...index, baseParam }
  const { entries, scoreOf } = compileEntries(wordsOf(condition), indexed, parameters)
  if (!condition.trusted) onScore(scoreOf('r.words', isWhole(condition.field) ? 'r.data' : undefined))
  return `(SELECT r.*, e.words FROM ${entries} e,
    LATERAL (SELECT * FROM plinth.record r WHERE ${scoped} AND r.id = e.id LIMIT 1) r)`
}

/** Counts the matching entries of a text index, which equals the number of matching records. */
export function countFound(
  condition: Condition,
  { index, baseId }: { index: IndexedField; baseId: string },
  parameters: Parameters,
): string {
  const indexed = { ...index, baseParam: parameters.add(baseId) }
  return `SELECT count(*)::float8 AS total FROM ${compileEntries(wordsOf(condition), indexed, parameters).entries} e`
}

/** @throws VALIDATION_ERROR when the search value has no words */
const wordsOf = ({ value, at }: Condition<string>): string[] => requireWords(value as string, `${at}/value`)

/** The sum of the search scores of a record; null without a search. */
export const sumOfScores = (scores: readonly string[]): string | null =>
  scores.length > 0 ? `(${scores.map((each) => `coalesce(${each}, 0)`).join(' + ')})` : null

const isWhole = (field: Field<string>): boolean => field.kind === 'data' && field.path.length === 0

/** The visible properties that a search of `data` covers, if some are hidden. */
const visiblePart = (
  { field, trusted }: Condition<string>,
  { visible }: FieldContext,
): readonly string[] | null => (!trusted && visible && isWhole(field) ? visible : null)

/** The values of the visible properties of `data`. */
const visibleValues = (visible: readonly string[], parameters: Parameters): string =>
  `jsonb_build_array(${visible.map((name) => valueAt([name], parameters)).join(', ')})`

/** `data` with its visible properties only, as a record has it that has no others. */
const visibleOnly = (visible: readonly string[], parameters: Parameters): string =>
  `(SELECT coalesce(jsonb_object_agg(key, value), '{}') FROM jsonb_each(r.data) WHERE key = ANY (${parameters.add(visible)}::text[]))`

/** The jsonb value to search, including all nested strings. */
function searchedValue<C extends string>(
  field: Field<C>,
  operandOf: (column: C) => Operand,
  parameters: Parameters,
): string {
  if (field.kind === 'column') return `to_jsonb(${operandOf(field.column).sql})`
  const [first, ...more] = splitAtElements(field.path)
  let found = valueAt(first ?? [], parameters)
  for (const [n, rest] of more.entries())
    found = `(SELECT jsonb_agg(${valueAt(rest, parameters, `m${n}`)}) FROM jsonb_array_elements(CASE WHEN jsonb_typeof(${found}) = 'array' THEN ${found} END) AS m${n})`
  return found
}

/** Splits the path at each `[]`. */
function splitAtElements(path: FieldPath): FieldPath[] {
  const at = path.indexOf(null)
  return at < 0 ? [path] : [path.slice(0, at), ...splitAtElements(path.slice(at + 1))]
}

/** A field of a text index, or all of them where they have all strings of `data` together. */
type IndexedField = { id: string; field: number }
export type IndexedText = IndexedField | { id: string; fields: readonly number[] }

/** The ready text index that serves a search; null without one. */
export function textIndexOf(condition: Condition<string>, type: Searched): IndexedText | null {
  const { field } = condition
  if (field.kind === 'column' || visiblePart(condition, type)) return null
  const ready = type.indexes.filter(({ kind, status }) => kind === 'text' && status === 'ready')
  for (const { id, fields } of ready) {
    const at = positionOf(field.path, fields)
    if (at >= 0) return { id, field: at }
  }
  const whole = isWhole(field) && ready.find(hasAllStrings)
  return whole ? { id: whole.id, fields: [...whole.fields.keys()] } : null
}

const positionOf = (path: FieldPath, fields: CompiledIndex['fields']): number =>
  fields.findIndex((each) => !each.without && each.path !== null && isDeepStrictEqual(each.path, path))

/** Whether a text index serves searches of all of `data` by its fields together. */
const hasAllStrings = ({ fields }: CompiledIndex): boolean => fields.some(({ without }) => without)

/** Whether a text index serves a search of a field of `data`, once it is ready. */
export const servesSearch = (index: CompiledIndex, path: FieldPath): boolean =>
  index.kind === 'text' &&
  (positionOf(path, index.fields) >= 0 || (path.length === 0 && hasAllStrings(index)))
