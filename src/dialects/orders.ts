import { Doubt } from './draft.ts'
import { fieldOf } from './fields.ts'
import { jsonIn } from './literal.ts'

const MAX_TERMS = 32
const MAX_CHARS = 256
/** Sort terms of other languages: `area.desc.nullslast`, `area:desc`, `area DESC`, `-area`. */
const TERM =
  /^(?<minus>[-+]?)(?<name>[\p{L}_].*?)(?:(?:[.:]|\s+)(?<direction>asc|desc))?(?:(?:\.|\s+)nulls\s?last)?$/isu

/**
 * Converts a foreign sort to Plinth's `sort` shorthand.
 * @throws Doubt
 */
export function sortIn(text: string): string {
  const json = /^[[{]/.test(text) ? jsonIn(text) : undefined
  if (json !== undefined) return terms(termsOf(json))
  return terms(
    text.split(',').map((each) => {
      if (each.length > MAX_CHARS) throw new Doubt()
      const { minus, name, direction } = TERM.exec(each.trim())?.groups ?? {}
      if (name === undefined || (minus !== '' && direction !== undefined)) throw new Doubt()
      return [name, minus === '-' || direction?.toLowerCase() === 'desc']
    }),
  )
}

/** Parses MongoDB's `{"area": -1}`, Prisma's `{"area": "desc"}` and lists of them. */
function termsOf(json: unknown): [string, boolean][] {
  if (Array.isArray(json)) return json.flatMap(termsOf)
  if (typeof json !== 'object' || json === null) throw new Doubt()
  return Object.entries(json).map(([name, direction]) => [name, isDown(direction)])
}

function isDown(direction: unknown): boolean {
  if ([-1, 'desc', 'DESC', 'descending'].includes(direction as string)) return true
  if ([1, 'asc', 'ASC', 'ascending'].includes(direction as string)) return false
  throw new Doubt()
}

function terms(list: readonly [string, boolean][]): string {
  if (list.length === 0 || list.length > MAX_TERMS) throw new Doubt()
  return list.map(([name, down]) => `${down ? '-' : ''}${orderable(name)}`).join(',')
}

function orderable(name: string): string {
  // In `order=desc`, another parameter names the field. Nulls always sort last.
  if (/(?:^|\.)(?:asc|desc|nulls\w*)(?:\.|$)/i.test(name) || !/^[\p{L}_][\p{L}\p{N}_.-]*$/u.test(name))
    throw new Doubt()
  return fieldOf(name)
}

/**
 * Converts a projection to Plinth's `fields`.
 * @throws Doubt for anything but plain names
 */
export function fieldsIn(text: string): string {
  const names = text.split(',').map((each) => each.trim())
  if (names.length > MAX_TERMS) throw new Doubt()
  return names.map(orderable).join(',')
}
