import { DomainError } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import type { Context } from '../../../graphql/context.ts'
import { graphql } from '../../../graphql/document.ts'
import { compile } from '../../../graphql/execute.ts'
import { valuesOf } from '../../../json/rows.ts'
import { titleFields } from '../../resources/read-record.ts'

const listTypes = compile(
  graphql(
    `query SearchedTypes($base: String!, $limit: Int) {
      recordTypes(base: $base, limit: $limit, includeTotal: true) { data { id jsonSchema } total }
    }`,
  ),
)
const searchType = compile(
  graphql(
    `query SearchType($base: String!, $recordType: String!, $filter: JSON, $fields: [String!], $snippets: Boolean, $limit: Int) {
      records(base: $base, recordType: $recordType, filter: $filter, fields: $fields, snippets: $snippets, limit: $limit) { rows }
    }`,
  ),
)

type Search = { query: string; snippets: boolean }
/** One search of a type. */
type Asked = { base: string; filter: object; snippets: boolean }
type Type = { id: string; jsonSchema: unknown }
/** A search hit, with the data that may hold its title, and what was found if asked for. */
type Found = { recordType: string; id: string; data: object; score: number; snippets?: readonly object[] }
/** The best hits of all searched types, and the number of types. */
export type FoundInTypes = { found: Found[]; searched: number; types: number }

/**
 * Full-text search over all types of a base: records that match all words, or else those that match the most.
 * Scores of different types are comparable.
 * @throws VALIDATION_ERROR for a query without a word
 */
export async function searchTypes(
  base: string,
  { query, snippets }: Search,
  context: Context,
  signal: AbortSignal,
): Promise<FoundInTypes> {
  const { data, total } = (await listTypes({ base, limit: LIMITS.searchedTypes }, context)).recordTypes
  const { all, any } = wordsOf(query)
  const ask = (filter: object) => searchAll(data, { base, filter, snippets }, context, signal)
  const whole = await ask(all)
  const found = whole.length > 0 || !any ? whole : await ask(any)
  return { found, searched: data.length, types: total ?? data.length }
}

const search = (value: string) => ({ field: 'data', op: 'search', value })

/**
 * Builds the filter for all words, and the fallback for any of the longest words if there are several. Words
 * of up to three letters are common, so the fallback ignores them when there are longer ones.
 */
function wordsOf(query: string): { all: object; any: object | null } {
  const words = [...new Set(query.toLowerCase().match(/[\p{L}\p{N}]+/gu))]
  const long = words.filter((word) => word.length > 3)
  const candidates = long.length > 0 ? long : words
  const longest = candidates.sort((a, b) => b.length - a.length).slice(0, LIMITS.searchedWords)
  return { all: search(query), any: words.length > 1 ? { or: longest.map(search) } : null }
}

/** Limits concurrency, so that one search does not use up the connection pool. */
async function searchAll(
  types: readonly Type[],
  asked: Asked,
  context: Context,
  signal: AbortSignal,
): Promise<Found[]> {
  const found: Found[] = []
  for (let i = 0; i < types.length && !signal.aborted; i += LIMITS.searchedAtOnce) {
    const some = types.slice(i, i + LIMITS.searchedAtOnce)
    found.push(...(await Promise.all(some.map((type) => searchOne(type, asked, context)))).flat())
  }
  return found.sort((a, b) => b.score - a.score).slice(0, LIMITS.foundRecords)
}

async function searchOne(type: Type, asked: Asked, context: Context): Promise<Found[]> {
  const fields = ['id', ...titleFields(type.jsonSchema)]
  const variables = { ...asked, recordType: type.id, fields, limit: LIMITS.foundRecords }
  const answer = await searchType(variables, context).catch(nothingIfGone)
  const rows = valuesOf(answer.records.rows) as {
    id: string
    data?: object
    _search_score: number
    _snippets?: object[]
  }[]
  return rows.map(({ id, data = {}, _search_score: score, _snippets: snippets }) => ({
    ...{ recordType: type.id, id, data, score },
    ...(snippets && { snippets }),
  }))
}

/** A type that was deleted since the listing has no records. */
function nothingIfGone(thrown: unknown): { records: { rows: unknown } } {
  if (thrown instanceof DomainError && thrown.code === 'NOT_FOUND') return { records: { rows: [] } }
  throw thrown
}
