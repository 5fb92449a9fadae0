import { LIMITS } from '../../foundation/limits.ts'

/** Truncates client-supplied names and escapes control characters. */
export const bounded = (name: string): string =>
  name
    .slice(0, LIMITS.loggedNameChars)
    .replace(/(?! )[\p{C}\p{Z}]/gu, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`)
