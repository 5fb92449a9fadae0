import { RE2JS } from 're2js'
import { spend } from './budget.ts'

/** Why the linear-time engine cannot run a pattern, in words for whoever wrote it. */
export class PatternError extends Error {}

/** A compiled pattern. `test` takes time linear in the text and counts it against the budget. */
export type Pattern = { test(text: string): boolean; toString(): string; size: number }

// A pattern's cost is its size times the text, so both are bounded; {1,1000} of one character is about 2,000.
const MOST_INSTRUCTIONS = 5000

/** True when the linear-time engine runs this pattern with the meaning it has in JavaScript. */
export function canRunPattern(pattern: string): boolean {
  try {
    compilePattern(pattern)
    return true
  } catch (error) {
    if (error instanceof PatternError) return false
    throw error
  }
}

/** Compiles an ECMA-262 pattern for the linear-time engine; throws PatternError. */
export function compilePattern(source: string): Pattern {
  const { text, size } = translate(source)
  if (size > MOST_INSTRUCTIONS) {
    throw new PatternError('it repeats too much: use smaller repeat counts, or maxLength and maxItems')
  }
  const engine = compile(text)
  const cost = engine.programSize() / 4
  const test = (text: string) => {
    spend(text.length * cost)
    return engine.test(text)
  }
  // Ajv tells patterns apart by their text.
  return { test, toString: () => source, size: size + 20 }
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
    '\\{(?<low_count>\\d+)(?:,(?<high_count>\\d*))?\\}',
    '[^]',
  ].join('|'),
  'uy',
)

// White space is Unicode's in JavaScript and ASCII's in RE2; these are the same characters, and all others.
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

/** Rewrites what JavaScript and RE2 read differently, and estimates how large the compiled program gets. */
function translate(source: string): { text: string; size: number } {
  let text = ''
  let inClass = false
  // The size of each open group so far, innermost last, and of the piece that a quantifier would repeat.
  const sizes = [0]
  let piece = 0
  TOKEN.lastIndex = 0
  for (let match = TOKEN.exec(source); match; match = TOKEN.exec(source)) {
    let token = match[0]
    if (inClass && '[('.includes(token[0] ?? '')) {
      token = token[0] ?? ''
      TOKEN.lastIndex = match.index + 1
      text += `\\${token}`
      continue
    }
    text += rewrite(token, match.groups ?? {}, inClass)
    if (inClass) {
      if (token === ']') inClass = false
      else if (match.groups?.['property']) add(CLASS_SIZE)
    } else if (token === '[') {
      inClass = true
      add(1)
    } else if (token.startsWith('(')) sizes.push(0)
    else if (token === ')') {
      const inner = sizes.pop() ?? 0
      if (sizes.length === 0) throw new PatternError('missing opening (')
      add(inner + 2)
    } else if (match.groups?.['low_count']) {
      const { low_count, high_count } = match.groups
      add(piece * (Math.max(Number(low_count), Number(high_count ?? 0), 1) - 1))
    } else add(match.groups?.['property'] ? CLASS_SIZE : 1)
  }
  return { text, size: sizes.reduce((sum, size) => sum + size, 0) }

  function add(size: number): void {
    piece = size
    sizes.push((sizes.pop() ?? 0) + size)
  }
}

// Building a Unicode class costs about as much as this many plain characters.
const CLASS_SIZE = 20

function rewrite(token: string, groups: Record<string, string | undefined>, inClass: boolean): string {
  const { code, high, low, unit, control, property } = groups
  if (code) return `\\x{${code}}`
  if (high && low)
    return `\\x{${String.fromCodePoint(...pair(high, low))
      .codePointAt(0)
      ?.toString(16)}}`
  if (unit) return `\\x{${unit}}`
  if (control) return `\\x{${(control.charCodeAt(0) % 32).toString(16)}}`
  if (property !== undefined) return `${token.slice(0, 2)}{${propertyName(property)}}`
  if (token[0] === '\\') return rewriteEscape(token, inClass)
  if (inClass) return token
  if (token === '.') return '[^\\n\\r\\x{2028}\\x{2029}]'
  if (token === '[]') return '[^\\x{0}-\\x{10ffff}]'
  if (token === '[^]') return '[\\x{0}-\\x{10ffff}]'
  const lookaround = LOOKAROUND[token]
  if (lookaround) throw new PatternError(`${lookaround} is not supported`)
  // A group's name changes nothing about what matches.
  return token.startsWith('(?<') ? '(' : token
}

function pair(high: string, low: string): [number] {
  return [((Number.parseInt(high, 16) - 0xd800) << 10) + (Number.parseInt(low, 16) - 0xdc00) + 0x10000]
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

/** RE2 knows properties by their short names, and scripts by their bare names. */
function propertyName(property: string): string {
  const name = property.replace(/^(?:General_Category|gc|Script_Extensions|scx|Script|sc)=/, '')
  return CATEGORIES[name] ?? name
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
