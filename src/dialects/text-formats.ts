import { condition, type FilterAst, orUnclear, Unclear } from './filter-ast.ts'
import { readFormula } from './formula.ts'
import { readInfix } from './infix.ts'
import { jsonIn } from './literal.ts'
import { readNocodb } from './nocodb.ts'
import { readObject } from './objects.ts'
import { readPostgrest } from './postgrest.ts'
import { valueAt } from './split.ts'

/**
 * Parses JSON text, or JSON encoded twice.
 * @throws Unclear
 */
function readJson(text: string): FilterAst {
  const value = orUnclear(jsonIn(text))
  const inner = typeof value === 'string' ? orUnclear(jsonIn(value)) : value
  return readObject(inner)
}

/**
 * Parses Airtable syntax; requires braces or functions, since the text could otherwise be SQL.
 * @throws Unclear
 */
function readAirtable(text: string): FilterAst {
  if (!/\{|^=?\s*(?:AND|OR|NOT|FIND|SEARCH|IS_BEFORE|IS_AFTER)\s*\(/i.test(text)) throw new Unclear()
  return readFormula(text)
}

/** Text dialect parsers in order of precedence; the first that succeeds determines the dialect. */
export const TEXT_READERS: readonly ((text: string) => FilterAst)[] = [
  readJson,
  (text) => readObject(readRelaxedJson(text)),
  readNocodb,
  readAirtable,
  readInfix,
  readPostgrest,
  readPair,
]

/**
 * Parses one comparison as search engines write it, `data.status:open`. With an equals sign, the value could be
 * another field.
 * @throws Unclear
 */
function readPair(text: string): FilterAst {
  const [, name = '', value = ''] =
    /^([\p{L}_][\p{L}\p{N}_.]*):([\p{L}\p{N}][\p{L}\p{N}_.@-]*)$/u.exec(text) ?? []
  if (name === '') throw new Unclear()
  return condition(name, '$eq', valueAt(name, value))
}

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
 * @throws Unclear
 */
function readRelaxedJson(text: string): unknown {
  if (!/^[{[]/.test(text)) throw new Unclear()
  const parts: string[] = []
  for (let from = 0; from < text.length; from = STEP.lastIndex) {
    STEP.lastIndex = from
    const groups = STEP.exec(text)?.groups
    if (!groups) throw new Unclear()
    if (groups['space'] !== undefined) continue
    const sign = groups['sign']
    if ((sign === '}' || sign === ']') && parts.at(-1) === ',') parts.pop()
    parts.push(strict(groups, /^\s*:/.test(text.slice(STEP.lastIndex, STEP.lastIndex + 20))))
  }
  return orUnclear(jsonIn(parts.join('')))
}

function strict(groups: Readonly<Record<string, string | undefined>>, isKey: boolean): string {
  const { single, word } = groups
  if (single !== undefined) return requoted(single)
  if (word !== undefined) return isKey ? JSON.stringify(word) : orUnclear(WORDS.get(word))
  return orUnclear(groups['double'] ?? groups['number'] ?? groups['sign'])
}

const requoted = (inner: string): string =>
  `"${inner.replace(/\\.|"/gs, (found) => (found === '"' ? '\\"' : found === "\\'" ? "'" : found))}"`
