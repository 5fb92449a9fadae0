import { nextTurn, turnIsOver } from '../../../foundation/turns.ts'
import { survivesDouble } from '../../../json/decimal.ts'

/** Characters between two looks at the clock. */
const STRETCH = 64 * 1024

/** JSON of megabytes with each number that a double does not hold as a string of its digits. */
export async function quoteInexact(json: string): Promise<string> {
  const parts: string[] = []
  let from = 0
  let pause = STRETCH
  for (let i = 0; i < json.length; i++) {
    const c = json.charCodeAt(i)
    if (c === QUOTE) i = endOfString(json, i)
    else if (c === MINUS || isDigit(c)) {
      const end = endOfNumber(json, i)
      const number = json.slice(i, end)
      if ((number.length > EXACT_CHARS || /[eE]/.test(number)) && !survivesDouble(number)) {
        parts.push(json.slice(from, i), `"${number}"`)
        from = end
      }
      i = end - 1
    }
    if (i < pause) continue
    pause = i + STRETCH
    if (turnIsOver()) await nextTurn()
  }
  return parts.length === 0 ? json : [...parts, json.slice(from)].join('')
}

function endOfString(json: string, start: number): number {
  let i = start + 1
  for (; i < json.length && json.charCodeAt(i) !== QUOTE; i++) if (json.charCodeAt(i) === BACKSLASH) i++
  return i
}

function endOfNumber(json: string, start: number): number {
  let i = start + 1
  while (i < json.length && isInNumber(json.charCodeAt(i))) i++
  return i
}

const isDigit = (c: number): boolean => c >= 48 && c <= 57
/** A digit, or one of `.eE+-`. */
const isInNumber = (c: number): boolean =>
  isDigit(c) || c === 46 || c === 69 || c === 101 || c === 43 || c === MINUS

/** A number of so many characters is exact, if it has no exponent. */
const EXACT_CHARS = 15
const MINUS = 45
const QUOTE = 34
const BACKSLASH = 92
