import { hasInvisible } from '../foundation/invisible-characters.ts'
import { LIMITS } from '../foundation/limits.ts'

/** Whether a pattern means the same in RE2 (server) and ECMAScript (clients). */
export function isPortablePattern(pattern: string): boolean {
  if (
    pattern.length > LIMITS.portablePatternChars ||
    hasInvisible(pattern) ||
    /\(\?(?!:)|\[\[?:/.test(pattern)
  )
    return false
  try {
    return new RegExp(pattern, 'u') !== undefined
  } catch {
    return false
  }
}
