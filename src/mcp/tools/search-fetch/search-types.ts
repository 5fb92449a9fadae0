import { trim } from '../../../contract/response-bodies.ts'
import { DomainError } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { type Context, mayOnWhole } from '../../../graphql/context.ts'
import { staticOperation } from '../../../graphql/execute.ts'
import { valuesOf } from '../../../json/rows.ts'
import { titleFields } from '../../resources/read-record.ts'
import { search as findFiles } from '../files/reads.ts'

const listTypes = staticOperation(`query SearchedTypes($base: String!, $limit: Int) {
  recordTypes(base: $base, limit: $limit, includeTotal: true) { data { id jsonSchema display } total }
}`)
const searchType =
  staticOperation(`query SearchType($base: String!, $recordType: String!, $filter: JSON, $fields: [String!], $snippets: Boolean, $limit: Int) {
    records(base: $base, recordType: $recordType, filter: $filter, fields: $fields, snippets: $snippets, limit: $limit) { rows }
  }`)

type Search = { query: string; snippets: boolean }
/** One search of a type. */
type Asked = { base: string; filter: object; snippets: boolean }
type Type = { id: string; jsonSchema: unknown; display: unknown }
type Hit = { score: number; snippets?: readonly object[] }
/** A record, with the data that may hold its title, and what its type says of that. */
type FoundRecord = { recordType: string; id: string; data: object; display: unknown }
export type FoundFile = { fileType: string; path: string }
/** A search hit: a record or a file, and what was found in it if asked for. */
type Found = Hit & (FoundRecord | FoundFile)
/** The best hits of all searched types and of the files, whether there are more, and the number of types. */
export type FoundInTypes = { found: Found[]; hasMore: boolean; searched: number; types: number }

/**
 * Full-text search over all types and files of a base: what matches all words, or else what matches the most.
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
  const ask = async ({ filter, words, match }: Words) => {
    const asked = { base, snippets }
    const [records, files] = await Promise.all([
      searchAll(data, { ...asked, filter }, context, signal),
      searchFiles({ ...asked, search: words, match }, context),
    ])
    return [...records, ...files].sort((a, b) => b.score - a.score)
  }
  const whole = await ask(all)
  const hits = whole.length > 0 || !any ? whole : await ask(any)
  const hasMore = hits.length > LIMITS.foundRecords
  return {
    found: hits.slice(0, LIMITS.foundRecords),
    hasMore,
    searched: data.length,
    types: total ?? data.length,
  }
}

/** One more than is shown, to know whether there are more. */
const ASKED = LIMITS.foundRecords + 1

/** What to search for, in records and in files. */
type Words = { filter: object; words: string; match: 'all' | 'any' }

const search = (value: string) => ({ field: 'data', op: 'search', value })

/**
 * Builds the filter for all words, and the fallback for any of the longest words if there are several. Words
 * of up to three letters are common, so the fallback ignores them when there are longer ones.
 */
function wordsOf(query: string): { all: Words; any: Words | null } {
  const words = [...new Set(query.toLowerCase().match(/[\p{L}\p{N}]+/gu))]
  const long = words.filter((word) => word.length > 3)
  const candidates = long.length > 0 ? long : words
  const longest = candidates.sort((a, b) => b.length - a.length).slice(0, LIMITS.searchedWords)
  const any = { filter: { or: longest.map(search) }, words: longest.join(' '), match: 'any' as const }
  return { all: { filter: search(query), words: query, match: 'all' }, any: words.length > 1 ? any : null }
}

/** The files of the base, for who may read them: they need a grant on the whole base. */
async function searchFiles(asked: SearchedFiles, context: Context): Promise<Found[]> {
  if (!mayOnWhole(context, 'read', asked.base)) return []
  const { page } = await findFiles({ ...asked, limit: ASKED }, context)
  return page.data.map(({ file, _search_score: score, _snippets: snippets }) => ({
    ...{ fileType: file.file_type, path: file.path, score },
    ...(snippets && { snippets: snippets.map(trim) }),
  }))
}
type SearchedFiles = { base: string; search: string; match: Words['match']; snippets: boolean }

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
  return found
}

async function searchOne(type: Type, asked: Asked, context: Context): Promise<Found[]> {
  const { display } = type
  const fields = ['id', ...titleFields(type.jsonSchema, display)]
  const variables = { ...asked, recordType: type.id, fields, limit: ASKED }
  const answer = await searchType(variables, context).catch(nothingIfGone)
  const rows = valuesOf(answer.records.rows) as {
    id: string
    data?: object
    _search_score: number
    _snippets?: object[]
  }[]
  return rows.map(({ id, data = {}, _search_score: score, _snippets: snippets }) => ({
    ...{ recordType: type.id, id, data, display, score },
    ...(snippets && { snippets }),
  }))
}

/** A type that was deleted since the listing has no records. */
function nothingIfGone(thrown: unknown): { records: { rows: unknown } } {
  if (thrown instanceof DomainError && thrown.code === 'NOT_FOUND') return { records: { rows: [] } }
  throw thrown
}
