import { isClose } from '../contract/suggest.ts'
import { readFilter } from './correct.ts'
import { fieldOf, isField } from './fields.ts'
import { attempt, condition, type FilterAst, Unclear } from './filter-ast.ts'
import { jsonIn } from './literal.ts'
import { normalize } from './normalize.ts'
import { readObject } from './objects.ts'
import type { FilterJson } from './operands.ts'
import { readBracketed, readDjango, readSigned } from './parameter-names.ts'
import { isPostgrestTest, readGroup, readTest } from './postgrest.ts'
import { valueAt } from './split.ts'

/** Corrected query parameters. */
type Correction = { filter?: FilterJson; sort?: string; fields?: string }

const MAX_NAME = 1024
const MAX_VALUE = 10 * 1024
const flat = (name: string): string => name.toLowerCase().replace(/[$_-]|\[\]$/g, '')
function words(list: string): readonly string[] {
  return list.split(' ')
}
const FILTERS = words('where filters filterbyformula query condition conditions criteria predicate q')
const SORTS = words('order orderby sortby ordering sorting sorts')
const FIELDS = words('select selects columns projection attributes props properties only')
const WORDS = words('search fulltext q')

/**
 * Suggests a correction for an unknown query parameter, such as `data.region=eq.Europe`,
 * `or=(a.eq.1,b.gt.2)`, `filter[data.region]=Europe`, `where=…` or `order=area.desc`; undefined when the
 * intent is ambiguous. Never throws.
 */
export function correctParameter(name: string, value: string): Correction | undefined {
  if (name.length > MAX_NAME || value.length > MAX_VALUE || (value === '' && !/[<>=]/.test(name)))
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

/**
 * Parses a filter parameter.
 * @throws Unclear
 */
function readParameter(name: string, known: string, value: string): FilterAst {
  if (/^(?:not\.)?(?:and|or)$/.test(name) && value.startsWith('(')) return readGroup(`${name}${value}`)
  if (['and', 'or', 'not', 'nor'].includes(known)) return readObject({ [known]: jsonIn(value) })
  if (WORDS.includes(known) && /^[\p{L}\p{N}\s'-]+$/u.test(value)) return condition('data', '$search', value)
  if (FILTERS.includes(known) || WORDS.includes(known) || isClose(known, 'filter')) throw new Unclear()
  if (isPostgrestTest(value)) return readTest(name, value)
  const draft = readSigned(name, value) ?? (isField(name) ? undefined : readBracketed(name, value))
  if (draft) return draft
  // A bare name with a bare value may be a typo of any parameter.
  return isField(name) ? plain(name, value) : readDjango(name, value)
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

const MAX_TERMS = 32
const MAX_CHARS = 256
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
      if (each.length > MAX_CHARS) throw new Unclear()
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
  return isForeign && text.length <= MAX_VALUE ? attempt(() => sortIn(text)) : undefined
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
  if (list.length === 0 || list.length > MAX_TERMS) throw new Unclear()
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
  if (names.length > MAX_TERMS) throw new Unclear()
  return names.map(orderable).join(',')
}

/** Returns the hint for an unknown parameter: a supported one with its value, as `filter={"field":…}`. */
type Advice = (name: string) => string | undefined

/**
 * Hints for the query parameters that are not in `known`. Conditions in several parameters are combined with
 * AND and with the existing filter: each hint contains the whole filter.
 */
export function adviseQuery(query: Readonly<Record<string, unknown>>, known: readonly string[]): Advice {
  const corrections = new Map<string, Correction>()
  for (const [name, value] of Object.entries(query)) {
    const correction =
      known.includes(name) || typeof value !== 'string' ? undefined : correctParameter(name, value)
    if (correction) corrections.set(name, correction)
  }
  const filter = wholeFilter(query['filter'], [...corrections.values()])
  return (name) => {
    const { sort, fields, ...rest } = corrections.get(name) ?? {}
    if (sort !== undefined && known.includes('sort')) return `sort=${sort}`
    if (fields !== undefined && known.includes('fields')) return `fields=${fields}`
    return rest.filter && filter !== undefined && known.includes('filter') ? `filter=${filter}` : undefined
  }
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
