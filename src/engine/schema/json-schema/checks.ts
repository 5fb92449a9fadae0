import { nearest } from '../../../contract/suggest.ts'
import type { Detail } from '../../../foundation/errors.ts'
import { own } from '../../../foundation/own.ts'
import { type PlainShape, TYPE_SYNONYMS, TYPES } from './keywords.ts'

export type Path = (string | number)[]
export type Report = (path: Path, code: string, message: string, extra?: Partial<Detail>) => void

type Plain = { type: string; rule?: string; holds?: (value: unknown) => boolean }

const PLAIN: Record<PlainShape, Plain> = {
  string: { type: 'string' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  array: { type: 'array' },
  flags: { type: 'object', rule: 'an object of booleans', holds: areFlags },
  positive: { type: 'number', rule: 'a number over 0', holds: (value) => Number(value) > 0 },
  count: { type: 'number', rule: 'a whole number, 0 or more', holds: isCount },
  name: { type: 'string', rule: 'letters, digits, _ . and -', holds: (value) => isName(String(value)) },
  id: { type: 'string', rule: 'a URI without fragment', holds: (value) => /^[^#]*#?$/.test(String(value)) },
}

export function checkPlain(shape: PlainShape, value: unknown, path: Path, report: Report): void {
  const { type, rule, holds } = PLAIN[shape]
  if (typeName(value) !== type) wrongType(path, [type], value, report)
  else if (holds?.(value) === false)
    report(path, 'range', `${keywordIn(path)} takes ${rule}.`, { expected: rule })
}

export function checkStrings(value: unknown, path: Path, report: Report): void {
  if (!Array.isArray(value)) {
    const isOld = path.at(-1) === 'required' && typeof value === 'boolean'
    const advice = isOld ? '"required" must be a list of property names, beside `properties`.' : undefined
    wrongType(path, ['array'], value, report, advice)
    return
  }
  value.forEach((item, i) => {
    if (typeof item !== 'string') wrongType([...path, i], ['string'], item, report)
  })
  checkUnique(value, path, report)
}

export function checkTypes(value: unknown, path: Path, report: Report): void {
  const list: unknown[] = Array.isArray(value) ? value : [value]
  if (list.length === 0) report(path, 'min_items', '"type" must list at least one type.', { allowed: TYPES })
  list.forEach((item, i) => {
    if (TYPES.some((type) => type === item)) return
    const guess =
      typeof item === 'string' ? (own(TYPE_SYNONYMS, item.toLowerCase()) ?? nearest(item, TYPES)) : undefined
    const message = `There is no JSON type ${JSON.stringify(item)?.slice(0, 64)}. ${guess ? `Did you mean "${guess}"?` : `Types are ${TYPES.join(', ')}.`}`
    const at = Array.isArray(value) ? [...path, i] : path
    report(at, 'enum', message, { allowed: TYPES, ...(guess && { hint: guess }) })
  })
  checkUnique(list, path, report)
}

export function checkFormat(value: unknown, path: Path, report: Report): void {
  if (typeof value !== 'string') wrongType(path, ['string'], value, report)
}

export function wrongType(
  path: Path,
  types: string[],
  value: unknown,
  report: Report,
  advice?: string,
): void {
  const message = advice ?? `${keywordIn(path)} takes a value of type ${types.join(' or ')}.`
  report(path, 'type', message, {
    expected: types.length === 1 ? types[0] : types,
    received: typeName(value),
  })
}

/** The keyword that a path leads to, as messages show it. */
function keywordIn(path: Path): string {
  const keyword = path.findLast((segment) => typeof segment === 'string')
  return keyword === undefined ? 'The keyword' : `"${keyword.slice(0, 64)}"`
}

/** The JSON Schema type name of a value. */
export function typeName(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

export function isName(value: string): boolean {
  return /^[A-Za-z_][-A-Za-z0-9._]*$/.test(value)
}

function areFlags(value: unknown): boolean {
  return Object.values(value ?? {}).every((flag) => typeof flag === 'boolean')
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 0
}

function checkUnique(list: unknown[], path: Path, report: Report): void {
  const seen = new Set<unknown>()
  list.forEach((item, i) => {
    if (seen.has(item))
      report([...path, i], 'unique_items', `${keywordIn(path)} lists the same value twice. Remove one.`)
    seen.add(item)
  })
}
