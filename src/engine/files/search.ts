/** Finds files by words of their paths and texts. The text index decides and ranks, as for records. */
import { invalid } from '../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { cursorsOf, openCursor } from '../core/cursor.ts'
import { missingBase } from '../core/existing-base.ts'
import { type Page, type PageArgs, readPage, toPage } from '../core/page.ts'
import { read, readPageRows, type Scope } from '../core/scope.ts'
import { Parameters } from '../data/filter/parameters.ts'
import { compileEntries } from '../data/search/compile.ts'
import { Candidates, MATCHES, type Match } from '../data/search/matches.ts'
import {
  matchesOf,
  requireSnippetLimit,
  type Snippet,
  snippetsIn,
  type Text,
} from '../data/search/snippets.ts'
import { requireWords } from '../data/search/words.ts'
import { requirePermission } from '../storage/access/access.ts'
import { lagging, shaped, statement } from '../storage/database/client.ts'
import { FILE_COLUMNS, type File, type FileRow, toFile } from './file.ts'
import { readPrefix } from './list.ts'
import { policyOf } from './policy.ts'
import { textOfFile } from './text-index.ts'

export type SearchArgs = PageArgs & {
  search: string
  fileType?: string | null | undefined
  prefix?: string | null | undefined
  /** Whether a file has all words, which is the default, or any of them. */
  match?: 'all' | 'any' | null | undefined
  snippets?: boolean | null | undefined
}
/** A file, how well it matches, and what was found in it if asked for. */
export type FoundFile = File & { readonly searchScore: number; readonly snippets: readonly Snippet[] | null }

type Found = FileRow & { score: number }

const FIND_INDEX = statement(
  'find_file_index',
  'SELECT file_index_id::text AS id FROM plinth.base WHERE id = $1',
)

/**
 * Lists the files of a base whose path or text has the words, best first. A typo or two still find.
 * @throws FORBIDDEN without `read` on the base as a whole; NOT_FOUND; VALIDATION_ERROR
 */
export async function searchFiles(scope: Scope, baseId: string, args: SearchArgs): Promise<Page<FoundFile>> {
  requirePermission(scope.access, 'read', baseId, '*')
  const { search, fileType = null, snippets } = args
  const match = args.match ?? 'all'
  const words = readWords(search)
  const prefix = readPrefix(args.prefix ?? '')
  const page = readPage(args)
  if (snippets) requireSnippetLimit(page.limit)
  if (fileType !== null) await policyOf(scope, 'read', { baseId, fileType })
  const [index] = await read<{ id: string }>(scope, FIND_INDEX, [baseId])
  if (!index) throw await missingBase(scope, baseId)
  const boundTo = ['found files', baseId, fileType, prefix, match, words, scope.access.grants]
  const { id, values: [score = null] = [] } = args.cursor
    ? openCursor(scope.keys.cursor, boundTo, args.cursor)
    : { id: null }
  const query = compile(index.id, { baseId, fileType, prefix, words, match })
  const list = query.list({ score, id }, page)
  const total = page.includeTotal ? query.count() : null
  const [{ rows, isCut }, [count]] = await Promise.all([
    readPageRows<Found>(scope, lagging(shaped(list.text)), list.values),
    total ? read<{ total: number }>(scope, lagging(shaped(total.text)), total.values) : [],
  ])
  const found = toPage(rows, page, count?.total ?? null, isCut)
  const shown = snippets ? await snippetsOf(scope, found.data, search) : null
  const positionOf = (row: Found) => ({ id: row.id, values: [row.score] })
  const data = found.data.map((row, i) => ({
    ...toFile(row),
    searchScore: row.score,
    snippets: shown && (shown[i] ?? []),
  }))
  return { ...found, data, ...cursorsOf(scope.keys.cursor, boundTo, found, positionOf) }
}

type Query = {
  baseId: string
  fileType: string | null
  prefix: string
  words: readonly string[]
  match: 'all' | 'any'
}
type After = { score: string | number | null; id: string | null }

/**
 * The statements of a search. Each file is looked up by its id, best first, until the page is full: the fences
 * (OFFSET 0) keep a planner without statistics from reading all files.
 */
function compile(indexId: string, { baseId, fileType, prefix, words, match }: Query) {
  const parts = () => {
    const parameters = new Parameters()
    const base = parameters.add(baseId)
    const index = { id: indexId, field: 0, baseParam: base }
    const { entries, scoreOf } = compileEntries(words, index, parameters, match)
    const within = [
      `base_id = ${base} AND id = e.id AND deleted_at IS NULL`,
      ...(fileType === null ? [] : [`file_type = ${parameters.add(fileType)}`]),
      ...(prefix === '' ? [] : [`starts_with(path, ${parameters.add(prefix)})`]),
    ]
    const scored = `SELECT e.id, ${scoreOf('e.words')} AS score FROM ${entries} e OFFSET 0`
    const files = (columns: string) =>
      `(SELECT ${columns} FROM plinth.file WHERE ${within.join(' AND ')} OFFSET 0) f`
    return { parameters, scored, files }
  }
  return {
    list({ score, id }: After, { limit, offset }: { limit: number; offset: number }) {
      const { parameters, scored, files } = parts()
      const after =
        id === null
          ? ''
          : `WHERE (score, id COLLATE "C") < (${parameters.add(score)}::float8, ${parameters.add(id)}::text)`
      return parameters.bind(
        `SELECT f.*, e.score FROM (SELECT id, score FROM (${scored}) s ${after} ORDER BY score DESC, id DESC) e
         CROSS JOIN LATERAL ${files(FILE_COLUMNS)}
         ORDER BY e.score DESC, e.id DESC LIMIT ${parameters.add(limit + 1)} OFFSET ${parameters.add(offset)}`,
      )
    },
    count() {
      const { parameters, scored, files } = parts()
      return parameters.bind(
        `SELECT count(*)::int AS total FROM (${scored}) e CROSS JOIN LATERAL ${files('1')}`,
      )
    },
  }
}

/** @throws VALIDATION_ERROR without a word */
function readWords(search: string): string[] {
  if (search.length > LIMITS.searchChars)
    throw invalid({
      path: '/search',
      code: 'too_long',
      message: `search can have at most ${LIMITS.searchChars} characters. Send fewer words.`,
      expected: LIMITS.searchChars,
    })
  return requireWords(search, '/search')
}

/** What was found in each file: parts of its text, or its path. */
async function snippetsOf(scope: Scope, rows: readonly FileRow[], search: string): Promise<Snippet[][]> {
  const candidates = new Candidates(search)
  const texts: Text[][] = []
  for (const row of rows) {
    if (turnIsOver()) await nextTurn()
    texts.push(textsOf(row, await textOfFile(scope, row), candidates))
  }
  const matches = matchesOf(await read<Match>(scope, MATCHES, candidates.values))
  return texts.map((of) => snippetsIn(of, matches, candidates.words, LIMITS.snippetsOfRecord))
}

function textsOf({ path }: FileRow, text: string, candidates: Candidates): Text[] {
  const searched = text.slice(0, LIMITS.searchedChars - path.length - 1)
  return [
    { field: 'text', text: searched, hits: candidates.hitsIn(searched, LIMITS.snippetHits) },
    { field: 'path', text: path, hits: candidates.hitsIn(path, LIMITS.snippetHits) },
  ].filter(({ hits }) => hits.length > 0)
}
