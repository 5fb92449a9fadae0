import { Doubt, type Draft, sure } from './draft.ts'
import { readFormula } from './formula.ts'
import { readInfix } from './infix.ts'
import { jsonIn } from './literal.ts'
import { readNocodb } from './nocodb.ts'
import { readObject } from './objects.ts'
import { readPostgrest } from './postgrest.ts'
import { readRelaxedJson } from './relaxed-json.ts'

/**
 * Parses JSON text, or JSON encoded twice.
 * @throws Doubt
 */
function readJson(text: string): Draft {
  const value = sure(jsonIn(text))
  const inner = typeof value === 'string' ? sure(jsonIn(value)) : value
  return readObject(inner)
}

/**
 * Parses Airtable syntax; requires braces or functions, since the text could otherwise be SQL.
 * @throws Doubt
 */
function readAirtable(text: string): Draft {
  if (!/\{|^=?\s*(?:AND|OR|NOT|FIND|SEARCH|IS_BEFORE|IS_AFTER)\s*\(/i.test(text)) throw new Doubt()
  return readFormula(text)
}

/** Text dialect parsers in order of precedence; the first that succeeds determines the dialect. */
export const TEXT_READERS: readonly ((text: string) => Draft)[] = [
  readJson,
  (text) => readObject(readRelaxedJson(text)),
  readNocodb,
  readAirtable,
  readInfix,
  readPostgrest,
]
