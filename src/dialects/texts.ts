import { Doubt, type Draft, sure } from './draft.ts'
import { readFormula } from './formula.ts'
import { readInfix } from './infix.ts'
import { jsonIn } from './literal.ts'
import { readNocodb } from './nocodb.ts'
import { readObject } from './objects.ts'
import { readPostgrest } from './postgrest.ts'
import { readRelaxedJson } from './relaxed-json.ts'

/** JSON in a text, or in a text that is itself JSON: written twice. @throws Doubt */
function readJson(text: string): Draft {
  const value = sure(jsonIn(text))
  const inner = typeof value === 'string' ? sure(jsonIn(value)) : value
  return readObject(inner)
}

/** Airtable's braces and functions; without them the same text is SQL's or another's. @throws Doubt */
function readAirtable(text: string): Draft {
  if (!/\{|^=?\s*(?:AND|OR|NOT|FIND|SEARCH|IS_BEFORE|IS_AFTER)\s*\(/i.test(text)) throw new Doubt()
  return readFormula(text)
}

/** The languages that a filter may be written in as text; the first that is sure of it has it. */
export const TEXT_READERS: readonly ((text: string) => Draft)[] = [
  readJson,
  (text) => readObject(readRelaxedJson(text)),
  readNocodb,
  readAirtable,
  readInfix,
  readPostgrest,
]
