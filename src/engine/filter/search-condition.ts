import { isDeepStrictEqual } from 'node:util'
import { invalid } from '../../errors.ts'
import type { CompiledIndex } from '../indexes/index.ts'
import { compileSearch } from '../search/compile.ts'
import { searchWords } from '../search/words.ts'
import type { Field, FieldPath } from './field.ts'
import { columnOperand, demandField, type FieldContext, valueAt } from './operand.ts'
import type { Parameters } from './parameters.ts'
import type { Condition } from './parse.ts'

type Searched = FieldContext & { readonly indexes: readonly CompiledIndex[] }

/** Searches over `plinth.record AS r`; each tells its score as SQL. */
export function searchIn(
  baseId: string,
  type: Searched,
  parameters: Parameters,
  onScore: (score: string) => void,
): (condition: Condition) => string {
  return ({ field, value, at }) => {
    const words = searchWords(value as string)
    if (words.length === 0)
      throw invalid({
        path: `${at}/value`,
        code: 'no_words',
        message: 'There is no word to search for: a word has letters or digits.',
      })
    if (field.kind === 'data') demandField(field, type, `${at}/field`)
    const index = indexFor(field, type.indexes)
    const { matches, score } = compileSearch({
      words,
      text: () => searchedValue(field, type, parameters),
      parameters,
      index: index && { ...index, baseParam: parameters.add(baseId) },
    })
    onScore(score)
    return matches
  }
}

/** What is searched, as jsonb: all strings within it count. */
function searchedValue(field: Field, type: FieldContext, parameters: Parameters): string {
  if (field.kind === 'column') return `to_jsonb(${columnOperand(field.column, type).sql})`
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
function indexFor(field: Field, indexes: readonly CompiledIndex[]): { id: string; field: number } | null {
  if (field.kind === 'column') return null
  for (const { id, kind, status, fields } of indexes) {
    const at = fields.findIndex(({ path }) => path !== null && isDeepStrictEqual(path, field.path))
    if (kind === 'text' && status === 'ready' && at >= 0) return { id, field: at }
  }
  return null
}
