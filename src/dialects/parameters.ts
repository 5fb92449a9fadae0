import { isClose } from '../contract/suggest.ts'
import { isObject } from '../foundation/is-object.ts'
import { LIMITS } from '../foundation/limits.ts'
import { correctAggregation, correctAggregations } from './aggregations.ts'
import { FORM, readFilter } from './correct.ts'
import { fieldOf, isField } from './fields.ts'
import { attempt, condition, type FilterAst, Unclear } from './filter-ast.ts'
import { jsonIn } from './literal.ts'
import { normalize } from './normalize.ts'
import { readObject } from './objects.ts'
import type { FilterJson } from './operands.ts'
import { readBracketed, readDjango, readSigned, valueAt } from './parameter-names.ts'

/** Corrected query parameters. */
type Correction = { filter?: FilterJson; sort?: string; fields?: string }

const flat = (name: string): string => name.toLowerCase().replace(/[$_-]|\[\]$/g, '')
function words(list: string): readonly string[] {
  return list.split(' ')
}
const FILTERS = words('filter where filters filterbyformula query condition conditions criteria predicate q')
const SORTS = words('order orderby sortby ordering sorting sorts')
const FIELDS = words('select selects columns projection attributes props properties only')
const WORDS = words('search fulltext q query keyword keywords text')
const AGGREGATIONS = words('aggregates aggregate aggregation metrics metric measures measure')

/**
 * Suggests a correction for an unknown query parameter, such as `data.region=eq.Europe`,
 * `or=(a.eq.1,b.gt.2)`, `filter[data.region]=Europe`, `where=…` or `order=area.desc`; undefined when the
 * intent is ambiguous. Never throws.
 */
export function correctParameter(name: string, value: string): Correction | undefined {
  if (
    name.length > LIMITS.translatedNameChars ||
    value.length > LIMITS.translatedValueChars ||
    (value === '' && !/[<>=]/.test(name))
  )
    return undefined
  const known = flat(name)
  if (SORTS.includes(known)) return correction('sort', () => sortIn(value))
  if (FIELDS.includes(known) || /^fields\[[^[\]]*\]$/.test(name))
    return correction('fields', () => fieldsIn(value))
  const whole = FILTERS.includes(known) || isClose(known, 'filter') ? readFilter(value) : undefined
  return whole ? { filter: whole } : correction('filter', () => normalize(readParameter(name, known, value)))
}

function correction<K extends keyof Correction>(key: K, read: () => Correction[K]): Correction | undefined {
  const found = attempt(read)
  return found === undefined ? undefined : { [key]: found }
}

/** A test in a value as PostgREST has it, such as `gte.5`. */
const TEST = /^(?:not\.)?[a-z]{2,6}(?:\([^)]*\))?\./

/**
 * Parses a filter parameter.
 * @throws Unclear
 */
function readParameter(name: string, known: string, value: string): FilterAst {
  if (['and', 'or', 'not', 'nor'].includes(known)) return readObject({ [known]: jsonIn(value) })
  if (WORDS.includes(known) && /^[\p{L}\p{N}\s'-]+$/u.test(value)) return condition('data', '$search', value)
  if (FILTERS.includes(known) || WORDS.includes(known) || isClose(known, 'filter')) throw new Unclear()
  if (TEST.test(value)) throw new Unclear()
  const draft = readSigned(name, value) ?? (isField(name) ? undefined : readBracketed(name, value))
  if (draft) return draft
  // A bare name with a bare value may be a typo of any parameter.
  return isField(name) ? plain(name, value) : readDjango(name, value)
}

/** Whether a parameter is a filter in a text form of another product, which is not translated. */
function isTextForm(name: string, value: unknown): boolean {
  if (typeof value !== 'string' || value === '') return false
  if (/^(?:not\.)?(?:and|or)$/.test(name)) return value.startsWith('(')
  return TEST.test(value) || (FILTERS.includes(flat(name)) && flat(name) !== 'q')
}

function plain(name: string, value: string): FilterAst {
  // "a,b" may be one text or a list.
  if (value.includes(',')) throw new Unclear()
  const [, sign, rest] = /^(>=|<=|!=|<>|==|>|<)(.+)$/s.exec(value) ?? []
  if (sign !== undefined && rest !== undefined) return condition(name, `$${sign}`, valueAt(name, rest))
  const [, word, operand] = /^(eq|neq|ne|gt|gte|lt|lte):(.+)$/s.exec(value) ?? []
  if (word !== undefined && operand !== undefined) return condition(name, `$${word}`, valueAt(name, operand))
  return condition(name, '$eq', valueAt(name, value))
}

/** Sort terms of other languages: `area.desc.nullslast`, `area:desc`, `area DESC`, `-area`. */
const TERM =
  /^(?<minus>[-+]?)(?<name>[\p{L}_].*?)(?:(?:[.:]|\s+)(?<direction>asc|desc))?(?:(?:\.|\s+)nulls\s?last)?$/isu

/**
 * Converts a foreign sort to Plinth's `sort` shorthand.
 * @throws Unclear
 */
function sortIn(text: string): string {
  const json = /^[[{]/.test(text) ? jsonIn(text) : undefined
  if (json !== undefined) return terms(termsOf(json))
  return terms(
    text.split(',').map((each) => {
      if (each.length > LIMITS.translatedTermChars) throw new Unclear()
      const { minus, name, direction } = TERM.exec(each.trim())?.groups ?? {}
      if (name === undefined || (minus !== '' && direction !== undefined)) throw new Unclear()
      return [name, minus === '-' || direction?.toLowerCase() === 'desc']
    }),
  )
}

/**
 * Suggests the shorthand for a rejected sort that has a direction in the form of another language; undefined for
 * any other. Never throws.
 */
export function correctSort(raw: unknown): string | undefined {
  const text = typeof raw === 'string' ? raw : (JSON.stringify(raw) ?? '')
  const isForeign = /^[[{]|[:.\s](?:asc|desc)\b/i.test(text)
  return isForeign && text.length <= LIMITS.translatedValueChars ? attempt(() => sortIn(text)) : undefined
}

/** Parses MongoDB's `{"area": -1}`, Prisma's `{"area": "desc"}` and lists of them. */
function termsOf(json: unknown): [string, boolean][] {
  if (Array.isArray(json)) return json.flatMap(termsOf)
  if (typeof json !== 'object' || json === null) throw new Unclear()
  return Object.entries(json).map(([name, direction]) => [name, isDown(direction)])
}

function isDown(direction: unknown): boolean {
  if ([-1, 'desc', 'DESC', 'descending'].includes(direction as string)) return true
  if ([1, 'asc', 'ASC', 'ascending'].includes(direction as string)) return false
  throw new Unclear()
}

function terms(list: readonly [string, boolean][]): string {
  if (list.length === 0 || list.length > LIMITS.translatedTerms) throw new Unclear()
  return list.map(([name, down]) => `${down ? '-' : ''}${orderable(name)}`).join(',')
}

function orderable(name: string): string {
  // In `order=desc`, another parameter names the field. Nulls always sort last.
  if (/(?:^|\.)(?:asc|desc|nulls\w*)(?:\.|$)/i.test(name) || !/^[\p{L}_][\p{L}\p{N}_.-]*$/u.test(name))
    throw new Unclear()
  return fieldOf(name)
}

/**
 * Converts a projection to Plinth's `fields`.
 * @throws Unclear for anything but plain names
 */
function fieldsIn(text: string): string {
  const names = text.split(',').map((each) => each.trim())
  if (names.length > LIMITS.translatedTerms) throw new Unclear()
  return names.map(orderable).join(',')
}

/** Returns the hint for an unknown parameter: a supported one with its value, as `filter={"field":…}`. */
type Advice = (name: string, index?: number) => string | undefined

/**
 * Hints for the query parameters that are not in `known`. Conditions in several parameters are combined with
 * AND and with the existing filter: each hint contains the whole filter.
 */
export function adviseQuery(
  query: Readonly<Record<string, unknown>>,
  known: readonly string[],
  pageSize: number = LIMITS.pageDefault,
): Advice {
  const corrections = new Map<string, Correction>()
  for (const [name, value] of Object.entries(query)) {
    const correction =
      known.includes(name) || typeof value !== 'string' ? undefined : correctParameter(name, value)
    if (correction) corrections.set(name, correction)
  }
  const filter = wholeFilter(query['filter'], [...corrections.values()])
  const pages = pagesIn(query, pageSize)
  return (name) => {
    const page = pages.get(name)
    if (page !== undefined && known.includes(page.split('=', 1)[0] ?? '')) return page
    const { sort, fields, ...rest } = corrections.get(name) ?? {}
    // Aggregates are sorted by the names of their results.
    if (sort !== undefined && known.includes('aggregations')) return `sort=${sort.replaceAll('data.', '')}`
    if (sort !== undefined && known.includes('sort')) return `sort=${sort}`
    if (fields !== undefined && known.includes('fields')) return `fields=${fields}`
    const meant = rest.filter ? filter : isTextForm(name, query[name]) ? FORM : undefined
    return meant !== undefined && known.includes('filter') ? `filter=${meant}` : undefined
  }
}

const SIZES = words('perpage pagesize size count max maxresults top take rows first')
const OFFSETS = words('skip start startindex from')
const PAGES = words('page pagenumber pageno')
const CURSORS = words('nextcursor pagetoken nextpagetoken nexttoken continuation continuationtoken')

/** The parameters of pages in other words, each as the one that has its meaning: `page=3` as `offset=100`. */
function pagesIn(query: Readonly<Record<string, unknown>>, pageSize: number): ReadonlyMap<string, string> {
  const named = (names: readonly string[]) =>
    Object.entries(query).find(([name, value]) => names.includes(flat(name)) && isWhole(value))
  const [size, length = query['limit']] = named(SIZES) ?? []
  const [offset, skipped] = named(OFFSETS) ?? []
  const [page, number] = named(PAGES) ?? []
  const rows = isWhole(length) ? Number(length) : pageSize
  const pages = new Map<string, string>()
  if (size !== undefined) pages.set(size, `limit=${length}`)
  if (offset !== undefined) pages.set(offset, `offset=${skipped}`)
  if (page !== undefined && Number(number) > 0) pages.set(page, `offset=${(Number(number) - 1) * rows}`)
  for (const [name, value] of Object.entries(query))
    if (CURSORS.includes(flat(name)) && typeof value === 'string') pages.set(name, `cursor=${value}`)
  return pages
}

const isWhole = (value: unknown): value is string => typeof value === 'string' && /^\d{1,9}$/.test(value)

const LISTS = ['fields', 'expand', 'group_by', 'source_record_types', 'target_record_types', 'claim_ids']
const DAY = /^\d{4}-\d\d-\d\d$/

/**
 * Hints for the members of a body, or for the arguments of a tool: for one that is not in `known`, the known one
 * with its value, as `{"filter":…}`; for a value of the wrong form, the value.
 */
export function adviseBody(body: unknown, known: readonly string[], pageSize?: number): Advice {
  const members = isObject(body) ? body : {}
  const isRead = ([name, value]: [string, unknown]) =>
    (!known.includes(name) || READ_BESIDE.includes(name)) && isSmall(value)
  const texts = Object.fromEntries(
    Object.entries(members)
      .filter(isRead)
      .map(([name, value]) => [name, textOf(value)]),
  )
  const advise = adviseQuery(texts, known, pageSize)
  return (name, index) => {
    const value = members[name]
    if (!known.includes(name))
      return AGGREGATIONS.includes(flat(name)) && known.includes('aggregations') && isSmall(value)
        ? jsonOf('aggregations', correctAggregations(value))
        : isOfClaim(name, members)
          ? undefined
          : asMember(advise(name))
    if (name === 'aggregations' && isSmall(value))
      return JSON.stringify(
        index === undefined
          ? correctAggregations(value)
          : correctAggregation((Array.isArray(value) ? value : [])[index]),
      )
    if (name === 'indexes' && typeof (Array.isArray(value) ? value : [])[index ?? -1] === 'string')
      return indexOn((value as string[])[index ?? 0] ?? '')
    if (name === 'statements' && Array.isArray(value) && value.every((each) => typeof each === 'string'))
      return value.join('; ').length <= LIMITS.translatedSqlChars ? value.join('; ') : undefined
    const text = index === undefined ? value : undefined
    if (name === 'filter' && Array.isArray(text) && isSmall(text)) return JSON.stringify(readFilter(text))
    if (typeof text !== 'string') return undefined
    if (name === 'filter') return JSON.stringify(readFilter(text)) ?? FORM
    if (LISTS.includes(name) && text !== '') return JSON.stringify(text.split(',').map((each) => each.trim()))
    return ['since', 'until', 'as_of'].includes(name) && DAY.test(text) ? `${text}T00:00:00Z` : undefined
  }
}

/** Known members that show what others mean. */
const READ_BESIDE = ['filter', 'limit']

/** Whether a value has few enough members to read. */
function isSmall(value: unknown): boolean {
  let left: number = LIMITS.translatedValues
  const spend = (part: unknown): boolean => {
    left -= Array.isArray(part) ? part.length + 1 : 1
    return left > 0 && (typeof part !== 'object' || part === null || Object.values(part).every(spend))
  }
  return spend(value)
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string'
    ? value
    : Array.isArray(value) && value.every((each) => typeof each === 'string')
      ? value.join(',')
      : JSON.stringify(value)

/** An `id` beside an action on claims is that of the claim, and no condition on records. */
const isOfClaim = (name: string, { action }: Readonly<Record<string, unknown>>): boolean =>
  name === 'id' && ['heartbeat', 'release', 'complete'].includes(action as string)

const indexOn = (field: string): string | undefined => {
  const of = attempt(() => fieldOf(field))
  return of === undefined ? undefined : JSON.stringify({ fields: [of] })
}

const jsonOf = (name: string, value: unknown): string | undefined =>
  value === undefined ? undefined : JSON.stringify({ [name]: value })

/** `filter={…}` as `{"filter":{…}}`. */
function asMember(advice: string | undefined): string | undefined {
  const [, name = '', text = ''] = /^(\w+)=(.*)$/s.exec(advice ?? '') ?? []
  if (name === '') return undefined
  const value = name === 'filter' ? JSON.parse(text) : name === 'fields' ? text.split(',') : text
  return JSON.stringify({ [name]: name === 'limit' || name === 'offset' ? Number(text) : value })
}

/**
 * The combined filter as JSON; undefined when the existing filter is invalid, since a part of it would be
 * misleading.
 */
function wholeFilter(given: unknown, corrections: readonly Correction[]): string | undefined {
  const stated = typeof given === 'string' ? readFilter(given) : undefined
  if (given !== undefined && stated === undefined) return undefined
  const filters = [stated, ...corrections.map(({ filter }) => filter)].filter((each) => each !== undefined)
  // The combined filter may exceed the limits of a filter.
  return filters.length > 1 ? JSON.stringify(readFilter({ and: filters })) : JSON.stringify(filters[0])
}
