import { Doubt, sure } from './draft.ts'
import { jsonIn } from './literal.ts'

const STEP =
  /(?<space>\s+)|(?<double>"(?:[^"\\]|\\.)*")|'(?<single>(?:[^'\\]|\\.)*)'|(?<number>-?\d[\d.eE+-]*)|(?<word>[\p{L}_$][\p{L}\p{N}_$]*)|(?<sign>[{}[\]:,])/suy
/** Python literals and their JSON equivalents. */
const WORDS = new Map([
  ['True', 'true'],
  ['False', 'false'],
  ['None', 'null'],
  ['undefined', 'null'],
  ['true', 'true'],
  ['false', 'false'],
  ['null', 'null'],
])

/**
 * Parses Python or JavaScript object literals: single quotes, bare keys, `True`, trailing comma.
 * @throws Doubt
 */
export function readRelaxedJson(text: string): unknown {
  if (!/^[{[]/.test(text)) throw new Doubt()
  const parts: string[] = []
  for (let from = 0; from < text.length; from = STEP.lastIndex) {
    STEP.lastIndex = from
    const groups = STEP.exec(text)?.groups
    if (!groups) throw new Doubt()
    if (groups['space'] !== undefined) continue
    const sign = groups['sign']
    if ((sign === '}' || sign === ']') && parts.at(-1) === ',') parts.pop()
    parts.push(strict(groups, /^\s*:/.test(text.slice(STEP.lastIndex, STEP.lastIndex + 20))))
  }
  return sure(jsonIn(parts.join('')))
}

function strict(groups: Readonly<Record<string, string | undefined>>, isKey: boolean): string {
  const { single, word } = groups
  if (single !== undefined) return requoted(single)
  if (word !== undefined) return isKey ? JSON.stringify(word) : sure(WORDS.get(word))
  return sure(groups['double'] ?? groups['number'] ?? groups['sign'])
}

const requoted = (inner: string): string =>
  `"${inner.replace(/\\.|"/gs, (found) => (found === '"' ? '\\"' : found === "\\'" ? "'" : found))}"`
