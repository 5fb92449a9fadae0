import { hasInvisible } from '../foundation/invisible-characters.ts'

const PATTERN_CHARS = 300

/** Whether a pattern means the same in RE2 (server) and ECMAScript (clients). */
export function isPortablePattern(pattern: string): boolean {
  if (pattern.length > PATTERN_CHARS || hasInvisible(pattern) || /\(\?(?!:)|\[\[?:/.test(pattern))
    return false
  try {
    return new RegExp(pattern, 'u') !== undefined
  } catch {
    return false
  }
}
