import type { Detail } from '../foundation/errors.ts'
import { LIMITS } from '../foundation/limits.ts'

/** The path of a value in a document, outermost segment first. */
export type Path = (string | number)[]

/** Maximum number of faults that a scan lists. */
export const MOST_FAULTS = 20

const ESCAPED = /[~/]/

/** Builds a JSON Pointer (RFC 6901) from path segments. */
export function pointer(...segments: Path): string {
  let text = ''
  for (const segment of segments) {
    const plain = String(segment).toWellFormed()
    text += ESCAPED.test(plain) ? `/${plain.replaceAll('~', '~0').replaceAll('/', '~1')}` : `/${plain}`
  }
  return text
}

export function fault(at: string, path: Path, code: string, message: string): Detail {
  return { path: at + pointer(...path), code, message }
}

export function tooDeep(at: string, path: Path): Detail {
  const message = `Objects and arrays nest deeper than ${LIMITS.jsonDepth} levels. Flatten them.`
  return { ...fault(at, path, 'too_deep', message), expected: LIMITS.jsonDepth }
}

/** What a large body can have too much of: the limit, the error code, and its words. */
const TOO_MANY = {
  members: [LIMITS.jsonMembers, 'too_many_members', 'An object of a body has at most', 'members'],
  containers: [LIMITS.jsonContainers, 'too_many_containers', 'A body has at most', 'objects and arrays'],
  values: [LIMITS.jsonValues, 'too_many_values', 'A body has at most', 'values'],
} as const

export function tooMany({ what, path }: { what: keyof typeof TOO_MANY; path: Path }): Detail {
  const [most, code, message, noun] = TOO_MANY[what]
  return { ...fault('', path, code, `${message} ${most} ${noun}. Send several requests.`), expected: most }
}

/** Checks an object key; `path` ends with the key. */
export function checkKey(key: string, at: string, path: Path, faults: Detail[]): void {
  if (key === '__proto__') faults.push(fault(at, path, 'forbidden_key', 'Rename the key __proto__.'))
  checkString(key, at, path, faults, 'stored', 'key')
}

/**
 * What a text is used for. Stored text must be well-formed Unicode; a comparison value may contain lone
 * surrogates.
 */
export type Use = 'stored' | 'compared'

export function checkString(
  text: string,
  at: string,
  path: Path,
  faults: Detail[],
  use: Use,
  what = 'string',
): void {
  if (text.includes('\u0000')) {
    faults.push(
      fault(at, path, 'invalid_string', `Remove the \\u0000 from this ${what}: it cannot be stored.`),
    )
  } else if (use === 'stored' && !text.isWellFormed()) {
    const message = `This ${what} holds half of a surrogate pair. Send whole Unicode characters.`
    faults.push(fault(at, path, 'invalid_string', message))
  }
}

export function unsafeNumber(token: string, at: string, path: Path): Detail {
  const double = Number(token)
  const shown = token.length <= 40 ? token : `${token.slice(0, 20)}…`
  const outcome = Number.isFinite(double) ? `would be read as ${double}` : 'is too large'
  const message = `The number ${shown} ${outcome}. Send it as a string, or with fewer digits.`
  const detail = fault(at, path, 'unsafe_number', message)
  return shown === token ? { ...detail, hint: JSON.stringify(token) } : detail
}

/** Detail for malformed JSON. `where` is the offset of the first unexpected character. */
export function malformed(text: string, where: number, at: string): Detail {
  let [line, lineStart] = [1, 0]
  for (let i = 0; i < where; i++)
    if (text.charCodeAt(i) === 10) {
      line++
      lineStart = i + 1
    }
  const place = `line ${line}, column ${where - lineStart + 1}`
  return fault(at, [], 'malformed_json', `The JSON is malformed at ${place}. ${remedy(text, where)}`)
}

function remedy(text: string, where: number): string {
  const c = text[where]
  if (text.trim() === '') return 'It is empty. Send a JSON value.'
  if (c === undefined) return 'It ends too early. Close all open brackets and strings.'
  if (c === "'") return 'Write strings and keys in double quotes.'
  if ((c === '}' || c === ']') && text.slice(0, where).trimEnd().endsWith(','))
    return 'Remove the comma before it.'
  if (/^(?:-?Infinity|NaN|undefined|None)/.test(text.slice(where, where + 9)))
    return 'Write null, or a string.'
  if (/^(?:True|False)/.test(text.slice(where, where + 5))) return 'Write true and false in lower case.'
  return 'Send well-formed JSON.'
}
