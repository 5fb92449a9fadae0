import { isObject } from '../../foundation/is-object.ts'
import type { Checks, Note } from './codec.ts'
import { type Json, pointer } from './input.ts'
import { mapChildren, omit, pickMissing, someSchema } from './schema-walk.ts'

/** Keywords that become `x-<keyword>` when the validator does not support them. */
const UNCHECKED = [
  'format',
  'pattern',
  'patternProperties',
  'additionalProperties',
  'unevaluatedProperties',
  'not',
  'if',
  'oneOf',
]

/**
 * Turns unknown formats and patterns without linear-time execution into annotations, with a warning for each.
 */
export function uncheck(schema: Json, at: string, checks: Checks, note: Note): Json {
  const entries = Object.entries(split(schema, at, checks, note)).map(([key, value]): [string, unknown] => {
    if (!cannotCheck(key, value, checks)) return [key, value]
    // Google adds this format to every enum. `enum` itself is still validated, so there is no warning.
    if (value !== 'enum' || !schema['enum']) note(noteOf(key, value), pointer(at, key))
    return [`x-${key}`, value]
  })
  return mapChildren(Object.fromEntries(entries), at, (child, place) => uncheck(child, place, checks, note))
}

/** The inverse of `uncheck`: restores the authored schema. */
export function recheck(schema: Json): Json {
  let result = schema
  for (const key of UNCHECKED) {
    const kept = result[`x-${key}`]
    if (kept === undefined) continue
    const now = result[key]
    if (now === undefined) result = { ...omit(result, `x-${key}`), [key]: kept }
    else if (isObject(now) && isObject(kept))
      result = { ...omit(result, `x-${key}`), [key]: { ...now, ...kept } }
  }
  return mapChildren(result, '', recheck)
}

function cannotCheck(key: string, value: unknown, checks: Checks): boolean {
  if (key === 'format') return typeof value === 'string' && !checks.isKnownFormat(value)
  if (key === 'pattern') return typeof value === 'string' && !checks.canRunPattern(value)
  // Without its pattern, a branch of these keywords would match more values, and the schema would then reject
  // valid ones.
  if (key === 'not' || key === 'if' || key === 'oneOf')
    return someSchema(value, (each) => hasDeadPattern(each, checks))
  return false
}

function hasDeadPattern(schema: Json, checks: Checks): boolean {
  return (
    cannotCheck('pattern', schema['pattern'], checks) ||
    Object.keys(deadProperties(schema, checks)).length > 0
  )
}

function deadProperties(schema: Json, { canRunPattern }: Checks): Json {
  const patterns = schema['patternProperties']
  if (!isObject(patterns)) return {}
  return Object.fromEntries(Object.entries(patterns).filter(([pattern]) => !canRunPattern(pattern)))
}

/** Splits off unsupported entries of `patternProperties`. */
function split(schema: Json, at: string, checks: Checks, note: Note): Json {
  const dead = deadProperties(schema, checks)
  if (!isObject(schema['patternProperties']) || Object.keys(dead).length === 0) return schema
  const place = pointer(at, 'patternProperties')
  for (const pattern of Object.keys(dead)) note(noteOf('patternProperties', pattern), pointer(place, pattern))
  const result: Json = {
    ...schema,
    patternProperties: pickMissing(schema['patternProperties'], dead),
    'x-patternProperties': dead,
  }
  // Keys that the removed patterns allowed would otherwise count as additional properties.
  for (const key of ['additionalProperties', 'unevaluatedProperties']) {
    if (result[key] === undefined) continue
    result[`x-${key}`] = result[key]
    delete result[key]
  }
  return result
}

function noteOf(key: string, value: unknown): string {
  const kept = `is kept as "x-${key}" and not checked`
  if (key === 'format') return `The format ${JSON.stringify(value)} is not known: it ${kept}`
  if (typeof value !== 'string') return `"${key}" holds a pattern that cannot run in linear time: it ${kept}`
  return `The pattern ${JSON.stringify(value)} cannot run in linear time: it ${kept}`
}
