import { isDeepStrictEqual } from 'node:util'
import { invalid } from '../../errors.ts'
import type { Column } from '../../record-columns.ts'
import type { CompiledIndex } from '../indexes/index.ts'
import { compileSearch } from '../search/compile.ts'
import { searchWords } from '../search/words.ts'
import type { Field, FieldPath } from './field.ts'
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
  return ({ field, value, at, trusted }) => {
    const words = searchWords(value as string)
    if (words.length === 0)
      throw invalid({
        path: `${at}/value`,
        code: 'no_words',
        message: 'There is no word to search for: a word has letters or digits.',
      })
    const shown = !trusted && type.shown && isWhole(field) ? type.shown : null
    const index = shown ? null : indexFor(field, type.indexes)
    const { matches, score } = compileSearch({
      words,
      text: () => (shown ? shownValues(shown, parameters) : searchedValue(field, operandOf, parameters)),
      parameters,
      index: index && { ...index, baseParam: parameters.add(baseId) },
    })
    if (!trusted) onScore(score)
    return matches
  }
}

/** The score of a record by all searches of a filter; null without any. */
export const sumOfScores = (scores: readonly string[]): string | null =>
  scores.length > 0 ? `(${scores.map((each) => `coalesce(${each}, 0)`).join(' + ')})` : null

const isWhole = (field: Field<string>): boolean => field.kind === 'data' && field.path.length === 0

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

/** A text index that has the words of the field, and which of its fields that is. */
function indexFor(
  field: Field<string>,
  indexes: readonly CompiledIndex[],
): { id: string; field: number } | null {
  if (field.kind === 'column') return null
  for (const { id, kind, status, fields } of indexes) {
    const at = fields.findIndex(({ path }) => path !== null && isDeepStrictEqual(path, field.path))
    if (kind === 'text' && status === 'ready' && at >= 0) return { id, field: at }
  }
  return null
}
