import { SPACE } from '../../../foundation/ascii.ts'
import { invalid } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'

// Combining characters that tokenization removes: accents, vowel points, joiners.
const MARKS =
  /[\u20d0-\u20ff\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\ufe00-\ufe2f\u0591-\u05bd\u064b-\u065f\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0670\u3099\u309a\u200b-\u200f\u2060\ufeff\u00ad]+/gu
// Word separators: ASCII other than letters and digits, and other punctuation, symbols and spaces.
const BETWEEN =
  /[^0-9a-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u0559\u0560-\u0588\u058a-\u05bd\u05bf\u05c1-\u05c2\u05c4-\u060b\u060d-\u061a\u061c-\u061e\u0620-\u0669\u066e-\u06d3\u06d5-\u0963\u0966-\u1360\u1369-\u1fff\u2070-\u209f\u2100-\u218f\u2300-\u24ff\u2600-\u2fff\u3005-\u3007\u3040-\u30fa\u30fc-\u{10ffff}]+/u
// Scripts without spaces: each character is a token.
const IDEOGRAPHS = /[\u3005-\u3007\u3040-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]/gu
const LETTERS: Readonly<Record<string, string>> = {
  ð: 'd',
  đ: 'd',
  ħ: 'h',
  ı: 'i',
  ł: 'l',
  ø: 'o',
  ŧ: 't',
  ς: 'σ',
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
}

/**
 * Tokenizes a search value: at most 16 words. Empty when the value has no letter or digit.
 */
export const searchWords = (value: string): string[] => foldWords(value).slice(0, LIMITS.searchWords)

/**
 * The words of a search value. `path` is that of the value in errors.
 * @throws VALIDATION_ERROR when it has no words
 */
export function requireWords(value: string, path: string): string[] {
  const words = searchWords(value)
  if (words.length > 0) return words
  throw invalid({
    path,
    code: 'no_words',
    message: 'The search text contains no word. Send at least one letter or digit.',
  })
}

/** The words of a text, in order: lower case, without accents, at most 64 characters each. */
export const foldWords = (value: string): string[] => wordsOf(foldText(value))

/** The words of a folded text. */
export const wordsOf = (folded: string): string[] => (folded === ' ' ? [] : folded.slice(1, -1).split(' '))

/** The words of a text, each between single spaces. `plinth.search_fold` normalizes indexed text in the same way. */
export function foldText(value: string): string {
  const folded = foldAscii(value)
  if (folded !== undefined) return folded
  const words = separated(value)
    .filter((word) => word !== '')
    .map((word) =>
      word.length > LIMITS.searchWordChars ? [...word].slice(0, LIMITS.searchWordChars).join('') : word,
    )
  return words.length > 0 ? ` ${words.join(' ')} ` : ' '
}

/** Each ASCII character as it is in a word, or a space if it separates words. */
const FOLDED = Uint8Array.from({ length: 128 }, (_, code) =>
  /[0-9a-z]/i.test(String.fromCharCode(code)) ? String.fromCharCode(code).toLowerCase().charCodeAt(0) : SPACE,
)

/** The folded form of an ASCII text, as most are. Undefined for other texts, and for one with a word above the maximum. */
function foldAscii(value: string): string | undefined {
  const folded = Buffer.allocUnsafe(value.length + 2)
  folded[0] = SPACE
  let size = 1
  let letters = 0
  for (let at = 0; at < value.length; at++) {
    const code = FOLDED[value.charCodeAt(at)]
    if (code === undefined) return undefined
    if (code !== SPACE) {
      if (++letters > LIMITS.searchWordChars) return undefined
      folded[size++] = code
    } else if (letters > 0) {
      folded[size++] = SPACE
      letters = 0
    }
  }
  if (letters > 0) folded[size++] = SPACE
  return folded.toString('latin1', 0, size)
}

function separated(value: string): string[] {
  return value
    .normalize('NFKD')
    .toLowerCase()
    .replace(MARKS, '')
    .replace(/[ðđħıłøŧςßæœ]/gu, (letter) => LETTERS[letter] ?? letter)
    .replace(IDEOGRAPHS, ' $& ')
    .split(BETWEEN)
}

/**
 * LIKE patterns that prefilter candidate words of a fuzzy match: equal, prefix, or a part that one or two
 * typos leave unchanged. They only reduce work; `plinth.search_score` makes the decision.
 */
export function wordPatterns(word: string): string[] {
  const letters = [...word]
  const size = letters.length
  const part = (from: number, to = size) => letters.slice(from, to).join('')
  /** The prefix with a wildcard inserted at each position. */
  const widened = (end: number) => Array.from({ length: end }, (_, at) => `${part(0, at)}_${part(at, end)}`)
  if (size < 3) return [word]
  if (size === 3) return [`${word}%`, ...widened(3)]
  if (size > 6) {
    // Two typos leave at least one third unchanged.
    const third = Math.floor(size / 3)
    return [`${part(0, third)}%`, `%${part(third, size - third)}%`, `%${part(size - third)}`]
  }
  // One typo leaves one half unchanged, except a transposition at the boundary.
  const half = size >> 1
  const swapped = `${part(0, half - 1)}${letters[half]}${letters[half - 1]}${part(half + 1)}`
  const halves = [`${part(0, half)}%`, `%${part(half)}`, swapped]
  // A word of eight letters allows two typos: six letters match it with one missing from each half.
  return size === 6 ? [...halves, ...widened(half).map((pattern) => `${pattern}%`)] : halves
}

/** The patterns for a folded text, in which spaces surround each word. */
export const textPatterns = (word: string): string[] =>
  wordPatterns(word).map((pattern) => pattern.replace(/^(?!%)/, '% ').replace(/(?<!%)$/, ' %'))

/** The patterns for unfolded lower-case ASCII text. */
export const roughPatterns = (word: string): string[] =>
  wordPatterns(word).map((pattern) => `%${pattern}%`.replaceAll('%%', '%'))
