/**
 * Characters that a person does not see, or that change how others look: controls, line separators, marks of
 * direction, private and unassigned characters, tags. A program or a model reads them all the same.
 * Two joiners (U+200C, U+200D) are text: scripts and emoji need them.
 */
const INVISIBLE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029\u{e0000}-\u{e0fff}]/u
const EACH = new RegExp(INVISIBLE, 'gu')

export const hasInvisible = (text: string): boolean => INVISIBLE.test(text)

export const replaceInvisible = (text: string, by: string): string => text.replace(EACH, by)

/** A text of somebody else as a name: one line, of so many characters that are seen. */
export const nameIn = (text: string, most: number): string =>
  [...replaceInvisible(text, ' ').replace(/\s+/g, ' ').trim()].slice(0, most).join('')

/** Shows each as `\u202e`, so that a text cannot look like another, nor control a terminal. */
export const escapeInvisible = (text: string): string =>
  text.replace(EACH, (char) => char.split('').map(escapeOf).join(''))

/** As `escapeInvisible`, for a text of several lines: tabs and line feeds stay. */
export const escapeForScreen = (text: string): string =>
  text.replace(/[^\t\n]+/g, (part) => escapeInvisible(part))

const escapeOf = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
