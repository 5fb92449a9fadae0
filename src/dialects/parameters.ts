import { isClose } from './close.ts'
import { readFilter } from './correct.ts'
import { attempt, condition, Doubt, type Draft } from './draft.ts'
import { isField } from './fields.ts'
import { jsonIn } from './literal.ts'
import { readObject } from './objects.ts'
import type { FilterJson } from './operands.ts'
import { fieldsIn, sortIn } from './orders.ts'
import { readBracketed, readDjango, readSigned } from './parameter-names.ts'
import { valueAt } from './pieces.ts'
import { isPostgrestTest, readGroup, readTest } from './postgrest.ts'
import { settle } from './settle.ts'

/** Corrected query parameters. */
export type Correction = { filter?: FilterJson; sort?: string; fields?: string }

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
  return whole ? { filter: whole } : correction('filter', () => settle(readParameter(name, known, value)))
}

function correction<K extends keyof Correction>(key: K, read: () => Correction[K]): Correction | undefined {
  const found = attempt(read)
  return found === undefined ? undefined : { [key]: found }
}

/**
 * Parses a filter parameter.
 * @throws Doubt
 */
function readParameter(name: string, known: string, value: string): Draft {
  if (/^(?:not\.)?(?:and|or)$/.test(name) && value.startsWith('(')) return readGroup(`${name}${value}`)
  if (['and', 'or', 'not', 'nor'].includes(known)) return readObject({ [known]: jsonIn(value) })
  if (WORDS.includes(known) && /^[\p{L}\p{N}\s'-]+$/u.test(value)) return condition('data', '$search', value)
  if (FILTERS.includes(known) || WORDS.includes(known) || isClose(known, 'filter')) throw new Doubt()
  if (isPostgrestTest(value)) return readTest(name, value)
  const draft = readSigned(name, value) ?? (isField(name) ? undefined : readBracketed(name, value))
  if (draft) return draft
  // A bare name with a bare value may be a typo of any parameter.
  return isField(name) ? plain(name, value) : readDjango(name, value)
}

function plain(name: string, value: string): Draft {
  // "a,b" may be one text or a list.
  if (value.includes(',')) throw new Doubt()
  const [, sign, rest] = /^(>=|<=|!=|<>|==|>|<)(.+)$/s.exec(value) ?? []
  if (sign !== undefined && rest !== undefined) return condition(name, `$${sign}`, valueAt(name, rest))
  const [, word, operand] = /^(eq|neq|ne|gt|gte|lt|lte):(.+)$/s.exec(value) ?? []
  if (word !== undefined && operand !== undefined) return condition(name, `$${word}`, valueAt(name, operand))
  return condition(name, '$eq', valueAt(name, value))
}
