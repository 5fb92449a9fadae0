import type { GuardContext } from '../relations/context.ts'

/** Maximum length of a regular expression, in characters. */
const MOST_PATTERN = 200
const MOST_REPEATS = 50
/** Maximum length of a jsonpath, in characters. */
const MOST_PATH = 5000

/**
 * Constructs with slow matching or another syntax: back references, look-around, directors, embedded options.
 */
const SLOW = /\\[1-9]|\(\?(?!:)|^\*\*\*/
const REPEATS = /\{(\d+)(?:,(\d*))?\}/g

/**
 * Checks that a regular expression is constant and cheap to match.
 * @throws VALIDATION_ERROR otherwise
 */
export function checkPattern(context: GuardContext, pattern: string | undefined, location?: number): void {
  const fault = (message: string) => context.source.fault('unsupported', message, location)
  if (pattern === undefined)
    throw fault(
      'A regular expression is a constant text or a parameter here. For values of rows use LIKE or strpos.',
    )
  if (pattern.length > MOST_PATTERN)
    throw fault(`A regular expression has at most ${MOST_PATTERN} characters.`)
  if (SLOW.test(pattern))
    throw fault('Back references, look-around and embedded options are not available in regular expressions.')
  const repeats = [...pattern.matchAll(REPEATS)]
  if (repeats.some(([, least, most]) => Math.max(Number(least), Number(most ?? 0)) > MOST_REPEATS))
    throw fault(`A repetition in a regular expression counts at most to ${MOST_REPEATS}.`)
  if (repeats.length > 1 && /\{[^}]*\}[^(]*\)\s*[{*+]/.test(pattern))
    throw fault('A counted repetition within a repetition is not available in regular expressions.')
}

/**
 * Checks that a jsonpath is constant.
 * @throws VALIDATION_ERROR otherwise
 */
export function checkJsonPath(context: GuardContext, path: string | undefined, location?: number): void {
  if (path === undefined)
    throw context.source.fault('unsupported', 'A jsonpath is a constant text or a parameter here.', location)
  if (path.length > MOST_PATH)
    throw context.source.fault('unsupported', `A jsonpath has at most ${MOST_PATH} characters.`, location)
  if (/like_regex/i.test(path))
    throw context.source.fault(
      'unsupported',
      'like_regex is not available: compare the text with ~ outside of the path.',
      location,
    )
}
