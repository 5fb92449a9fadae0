import { LIMITS } from '../foundation/limits.ts'
import { DIRECTION } from './attachment-rules.ts'

/** Rules of file paths. A path is a key in the database, never a place on a disk. */

const bytesOf = (text: string): number => new TextEncoder().encode(text).length

/** Faults of a path, the first of which is reported. */
const RULES: readonly (readonly [isBroken: (path: string) => boolean, message: string])[] = [
  [(path) => path === '', 'A path must have at least one byte.'],
  [
    (path) => bytesOf(path) > LIMITS.filePathBytes,
    `A path must have at most ${LIMITS.filePathBytes} bytes in UTF-8.`,
  ],
  [(path) => !path.isWellFormed(), 'A path must be well-formed Unicode.'],
  [(path) => /\p{Cc}/u.test(path), 'A path must not contain control characters.'],
  [(path) => DIRECTION.test(path), 'A path must not contain characters that change the direction of text.'],
  [
    (path) => /\p{Noncharacter_Code_Point}/u.test(path),
    'A path must not contain code points that are no characters, such as U+FFFE.',
  ],
  [(path) => path.includes('\\'), 'A path must not contain a backslash. Separate segments with "/".'],
  [(path) => path.startsWith('/'), 'A path must not begin with "/".'],
  [(path) => path.endsWith('/'), 'A path must not end with "/": that is a folder.'],
  [(path) => path.includes('//'), 'A path must not contain an empty segment ("//").'],
  [
    (path) => path.split('/').some((segment) => segment === '.' || segment === '..'),
    'A path must not contain the segments "." and "..".',
  ],
  [
    (path) => /%[0-9A-Fa-f]{2}/.test(path),
    'A path must not contain a percent-escape after it was decoded once. Encode it once only.',
  ],
]

/** The commonest paths, which break no rule: letters, digits, and what separates them. */
const PLAIN = /^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/

/** The path in Unicode NFC, or what is wrong with it. */
export function readFilePath(text: string): { path: string } | { fault: string } {
  if (text.length <= LIMITS.filePathBytes && PLAIN.test(text)) return { path: text }
  const path = text.normalize('NFC')
  const rule = RULES.find(([isBroken]) => isBroken(path))
  return rule ? { fault: rule[1] } : { path }
}

/** The path as a URL has it: percent-encoded, but for the slashes. */
export const encodeFilePath = (path: string): string => path.split('/').map(encodeURIComponent).join('/')

/** Decodes a path of a URL once, and checks it. */
export function readEncodedPath(text: string): { path: string } | { fault: string } {
  try {
    return readFilePath(decodeURIComponent(text))
  } catch {
    return { fault: 'A path must be percent-encoded UTF-8.' }
  }
}
