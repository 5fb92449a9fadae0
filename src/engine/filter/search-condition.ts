import { isDeepStrictEqual } from 'node:util'
import type { Column } from '../../contract/record-columns.ts'
import { invalid } from '../../foundation/errors.ts'
import type { Field, FieldPath } from '../compiled-types/field-path.ts'
import type { CompiledIndex } from '../indexes/index.ts'
import { compileEntries, compileSearch } from '../search/compile.ts'
import { searchWords } from '../search/words.ts'
import { columnOperand, type FieldContext, type Operand, valueAt } from './operand.ts'
import type { Parameters } from './parameters.ts'
import type { Condition } from './parse.ts'

type Searched = FieldContext & { readonly indexes: readonly CompiledIndex[] }

/** Searches over `plinth.record AS r`; each tells its score as SQL. */
export const searchIn = (
  baseId: string,
  type: Searched,
  parameters: Parameters,
  onScore: (score: string) => void,
): ((condition: Condition) => string) =>
  searchOver<Column>(baseId, type, parameters, onScore, (column) => columnOperand(column, type))

/** The same over other rows `r` that have `data`, whose columns are the operands that `operandOf` makes. */
export function searchOver<C extends string>(
  baseId: string,
  type: Searched,
  parameters: Parameters,
  onScore: (score: string) => void,
  operandOf: (column: C) => Operand,
): (condition: Condition<C>) => string {
  return (condition) => {
    const { field, trusted } = condition
    const shown = shownPart(condition, type)
    const index = textIndexOf(condition, type)
    const { matches, score } = compileSearch({
      words: wordsOf(condition),
      text: () => (shown ? shownValues(shown, parameters) : searchedValue(field, operandOf, parameters)),
      parameters,
      index: index && { ...index, baseParam: parameters.add(baseId) },
    })
    if (!trusted) onScore(score)
    return matches
  }
}

/**
 * A subquery of the records that a text index finds for a search, in place of `plinth.record`. The index goes first in any
 * plan: each entry's record is a look-up by key. `scoped` narrows `plinth.record AS r` to the type.
 */
export function recordsFound(
  condition: Condition,
  { index, baseId, scoped }: { index: IndexedField; baseId: string; scoped: string },
  parameters: Parameters,
  onScore: (score: string) => void,
): string {
  const indexed = { ...index, baseParam: parameters.add(baseId) }
  const { entries, scoreOf } = compileEntries(wordsOf(condition), indexed, parameters)
  if (!condition.trusted) onScore(scoreOf('r.words'))
  return `(SELECT r.*, e.words FROM ${entries} e,
    LATERAL (SELECT * FROM plinth.record r WHERE ${scoped} AND r.id = e.id LIMIT 1) r)`
}

/** How many entries a text index has for a search: as many as records match. */
export function countFound(
  condition: Condition,
  { index, baseId }: { index: IndexedField; baseId: string },
  parameters: Parameters,
): string {
  const indexed = { ...index, baseParam: parameters.add(baseId) }
  return `SELECT count(*)::float8 AS total FROM ${compileEntries(wordsOf(condition), indexed, parameters).entries} e`
}

/** @throws VALIDATION_ERROR where there is none */
function wordsOf({ value, at }: Condition<string>): string[] {
  const words = searchWords(value as string)
  if (words.length > 0) return words
  throw invalid({
    path: `${at}/value`,
    code: 'no_words',
    message: 'The search text contains no word. Send at least one letter or digit.',
  })
}

/** The score of a record by all searches of a filter; null without any. */
export const sumOfScores = (scores: readonly string[]): string | null =>
  scores.length > 0 ? `(${scores.map((each) => `coalesce(${each}, 0)`).join(' + ')})` : null

const isWhole = (field: Field<string>): boolean => field.kind === 'data' && field.path.length === 0

/** The properties that a search of `data` as a whole looks at, where some are hidden. */
const shownPart = (
  { field, trusted }: Condition<string>,
  { shown }: FieldContext,
): readonly string[] | null => (!trusted && shown && isWhole(field) ? shown : null)

/** Of `data` the properties that are shown. */
const shownValues = (shown: readonly string[], parameters: Parameters): string =>
  `jsonb_build_array(${shown.map((name) => valueAt([name], parameters)).join(', ')})`

/** What is searched, as jsonb: all strings within it count. */
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

/** The path cut at each `[]`. */
function splitAtElements(path: FieldPath): FieldPath[] {
  const at = path.indexOf(null)
  return at < 0 ? [path] : [path.slice(0, at), ...splitAtElements(path.slice(at + 1))]
}

export type IndexedField = { id: string; field: number }

/** The ready text index that serves a search, and which of its fields is searched; null where none does. */
export function textIndexOf(condition: Condition<string>, type: Searched): IndexedField | null {
  const { field } = condition
  if (field.kind === 'column' || shownPart(condition, type)) return null
  for (const { id, kind, status, fields } of type.indexes) {
    const at = fields.findIndex(({ path }) => path !== null && isDeepStrictEqual(path, field.path))
    if (kind === 'text' && status === 'ready' && at >= 0) return { id, field: at }
  }
  return null
}
