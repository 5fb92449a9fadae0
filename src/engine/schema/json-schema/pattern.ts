import { LRUCache } from 'lru-cache'
import { RE2JS } from 're2js'
import { LIMITS } from '../../../foundation/limits.ts'
import { own } from '../../../foundation/own.ts'
import { spend } from './evaluation-cost.ts'

/** Thrown for a pattern that the linear-time engine cannot run, with the reason. */
class PatternError extends Error {}

const TOKEN = new RegExp(
  [
    '\\\\u\\{(?<code>[0-9a-fA-F]+)\\}',
    '\\\\u(?<high>[dD][89abAB][0-9a-fA-F]{2})\\\\u(?<low>[dD][c-fC-F][0-9a-fA-F]{2})',
    '\\\\u(?<unit>[0-9a-fA-F]{4})',
    '\\\\c(?<control>[A-Za-z])',
    '\\\\[pP]\\{(?<property>[^}]*)\\}',
    '\\\\x[0-9a-fA-F]{2}',
    '\\\\[^]',
    '\\[\\^?\\]',
    '\\(\\?<?[=!]',
    '\\(\\?<[^>]*>',
    '\\{(?<least>\\d+)(?:,(?<most>\\d*))?\\}',
    '[^]',
  ].join('|'),
  'uy',
)

// `\s` is Unicode in JavaScript and ASCII in RE2; this class lists the JavaScript set.
const SPACE =
  '\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}'
const NOT_SPACE =
  '\\x{0}-\\x{8}\\x{e}-\\x{1f}!-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}' +
  '\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}'

const LOOKAROUND: Record<string, string> = {
  '(?=': 'lookahead (?=…)',
  '(?!': 'negative lookahead (?!…)',
  '(?<=': 'lookbehind (?<=…)',
  '(?<!': 'negative lookbehind (?<!…)',
}

// Estimated program size of a Unicode character class, in units of a plain character.
const CLASS_SIZE = 20

/**
 * Translates an ECMA-262 pattern to equivalent RE2 syntax. `size` estimates the compiled program in advance,
 * since nested repeat counts multiply.
 */
function translate(source: string): { text: string; size: number } {
  let text = ''
  let inClass = false
  // Sizes of the open groups, innermost last, and of the last atom, which a quantifier would repeat.
  const sizes = [0]
  let piece = 0
  const add = (size: number) => {
    piece = size
    sizes.push((sizes.pop() ?? 0) + size)
  }
  TOKEN.lastIndex = 0
  for (let match = TOKEN.exec(source); match; match = TOKEN.exec(source)) {
    const [token] = match
    const groups = match.groups ?? {}
    if (inClass && (token[0] === '[' || token[0] === '(')) {
      // Inside a class these tokens are single characters, regardless of what follows.
      TOKEN.lastIndex = match.index + 1
      text += `\\${token[0]}`
      continue
    }
    text += rewrite(token, groups, inClass)
    if (groups['property']) add(CLASS_SIZE)
    else if (inClass) inClass = token !== ']'
    else if (token === '[') {
      inClass = true
      add(1)
    } else if (token[0] === '(') sizes.push(0)
    else if (token === ')') {
      const inner = sizes.pop() ?? 0
      if (sizes.length === 0) throw new PatternError('missing opening (')
      add(inner + 2)
    } else if (groups['least']) {
      add(piece * (Math.max(Number(groups['least']), Number(groups['most'] ?? 0), 1) - 1))
    } else add(1)
  }
  return { text, size: sizes.reduce((sum, size) => sum + size, 0) }
}

function rewrite(token: string, groups: Record<string, string | undefined>, inClass: boolean): string {
  const { code, high, low, unit, control, property } = groups
  if (code ?? unit) return `\\x{${code ?? unit}}`
  if (high && low) return `\\x{${codePoint(high, low)}}`
  if (control) return `\\x{${(control.charCodeAt(0) % 32).toString(16)}}`
  if (property !== undefined) return `${token.slice(0, 2)}{${propertyName(property)}}`
  if (token[0] === '\\') return rewriteEscape(token, inClass)
  if (inClass) return token
  const lookaround = LOOKAROUND[token]
  if (lookaround) throw new PatternError(`${lookaround} is not supported`)
  // A group name does not affect matching.
  return token.startsWith('(?<') ? '(' : (RESPELT[token] ?? token)
}

const RESPELT: Record<string, string> = {
  '.': '[^\\n\\r\\x{2028}\\x{2029}]',
  '[]': '[^\\x{0}-\\x{10ffff}]',
  '[^]': '[\\x{0}-\\x{10ffff}]',
}

function codePoint(high: string, low: string): string {
  const offset = (Number.parseInt(high, 16) - 0xd800) * 0x400 + Number.parseInt(low, 16) - 0xdc00
  return (0x10000 + offset).toString(16)
}

function rewriteEscape(token: string, inClass: boolean): string {
  const c = token[1] ?? ''
  if (c === 's') return inClass ? SPACE : `[${SPACE}]`
  if (c === 'S') return inClass ? NOT_SPACE : `[${NOT_SPACE}]`
  if (c === 'b' && inClass) return '\\x{8}'
  if (c === '0') return '\\x{0}'
  if (/[1-9k]/.test(c)) throw new PatternError(`the backreference ${token} is not supported`)
  if (/[A-Za-z]/.test(c) && !/[bBdDwWnrtfvx]/.test(c))
    throw new PatternError(`the escape ${token} is unknown`)
  return token
}

/** Maps a Unicode property to RE2: short names for properties, bare names for scripts. */
function propertyName(property: string): string {
  const name = property.replace(/^(?:General_Category|gc|Script_Extensions|scx|Script|sc)=/, '')
  return own(CATEGORIES, name) ?? name
}

const CATEGORIES: Record<string, string> = {
  Letter: 'L',
  Cased_Letter: 'LC',
  Uppercase_Letter: 'Lu',
  Lowercase_Letter: 'Ll',
  Titlecase_Letter: 'Lt',
  Modifier_Letter: 'Lm',
  Other_Letter: 'Lo',
  Mark: 'M',
  Nonspacing_Mark: 'Mn',
  Spacing_Mark: 'Mc',
  Enclosing_Mark: 'Me',
  Number: 'N',
  Decimal_Number: 'Nd',
  Letter_Number: 'Nl',
  Other_Number: 'No',
  Punctuation: 'P',
  Connector_Punctuation: 'Pc',
  Dash_Punctuation: 'Pd',
  Open_Punctuation: 'Ps',
  Close_Punctuation: 'Pe',
  Initial_Punctuation: 'Pi',
  Final_Punctuation: 'Pf',
  Other_Punctuation: 'Po',
  Symbol: 'S',
  Math_Symbol: 'Sm',
  Currency_Symbol: 'Sc',
  Modifier_Symbol: 'Sk',
  Other_Symbol: 'So',
  Separator: 'Z',
  Space_Separator: 'Zs',
  Line_Separator: 'Zl',
  Paragraph_Separator: 'Zp',
  Other: 'C',
  Control: 'Cc',
  Format: 'Cf',
  Surrogate: 'Cs',
  Private_Use: 'Co',
}

export { PatternError }

/** A compiled regular expression. `test` is linear in the text length and charges the budget. */
export type Pattern = { test(text: string): boolean; size: number }

// Fixed size of any pattern, in addition to its instructions.
const PATTERN_SIZE = 20

const known = new LRUCache<string, Pattern>({
  maxSize: LIMITS.patternInstructionsKept,
  sizeCalculation: ({ size }, source) => size + source.length,
})

/**
 * Compiles an ECMA-262 pattern for the linear-time engine (RE2). Returns undefined, without compiling, for a
 * pattern larger than `most`.
 * @throws PatternError
 */
export function compilePattern(source: string, most = Number.POSITIVE_INFINITY): Pattern | undefined {
  const before = known.get(source)
  if (before) return before.size > most ? undefined : before
  const { text, size } = translate(source)
  if (size > LIMITS.patternInstructions) {
    throw new PatternError('it repeats too much: use smaller repeat counts, or maxLength and maxItems')
  }
  if (size + PATTERN_SIZE > most) return undefined
  const pattern = runnable(text, size + PATTERN_SIZE)
  known.set(source, pattern)
  return pattern
}

function runnable(text: string, size: number): Pattern {
  const engine = compile(text)
  const cost = engine.programSize() / 4
  const test = (text: string) => {
    spend(20 + text.length * cost)
    return engine.test(text)
  }
  return { test, size }
}

function compile(text: string): RE2JS {
  try {
    return RE2JS.compile(text)
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : ''
    if (reason.startsWith('invalid repeat count')) {
      throw new PatternError('a repeat count is over 1000: use maxLength or maxItems')
    }
    throw new PatternError(reason.slice(0, 100))
  }
}
