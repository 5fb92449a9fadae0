import { holdsText } from './fields.ts'
import { Unclear } from './filter-ast.ts'
import { bareValue, jsonIn } from './literal.ts'

const OPEN = '([{'
const CLOSE = ')]}'

/**
 * The index of the bracket that closes the one at the start; skips quoted parts.
 * @throws Unclear
 */
export function closing(text: string): number {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const sign = text.charAt(at)
    if (sign === '"') at = quoteEnd(text, at)
    else if (OPEN.includes(sign)) depth++
    else if (CLOSE.includes(sign) && --depth === 0) return at
  }
  throw new Unclear()
}

/**
 * Splits the text at its commas, except inside brackets and quotes.
 * @throws Unclear for unbalanced brackets
 */
export function pieces(text: string): string[] {
  const found: string[] = []
  let from = 0
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const sign = text.charAt(at)
    if (sign === '"') at = quoteEnd(text, at)
    else if (OPEN.includes(sign)) depth++
    else if (CLOSE.includes(sign)) depth--
    else if (sign === ',' && depth === 0) {
      found.push(text.slice(from, at))
      from = at + 1
    }
    if (depth < 0) throw new Unclear()
  }
  if (depth !== 0) throw new Unclear()
  return [...found, text.slice(from)]
}

function quoteEnd(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text.charAt(at) === '\\') at++
    else if (text.charAt(at) === '"') return at
  }
  throw new Unclear()
}

/**
 * Interprets an untyped text as a value of this field.
 * @throws Unclear
 */
export function valueAt(name: string, text: string): unknown {
  if (text === '') throw new Unclear()
  if (text.startsWith('"')) {
    const quoted = jsonIn(text)
    if (typeof quoted !== 'string') throw new Unclear()
    return quoted
  }
  return holdsText(name) && text !== 'null' ? text : bareValue(text)
}
