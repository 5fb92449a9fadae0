import type { ErrorObject, ValidateFunction } from 'ajv'
import { type Detail, invalid } from '../../errors.ts'
import { checkJson, pointer } from '../../json/index.ts'
import { LIMITS } from '../../limits.ts'
import { nearest } from '../../nearest.ts'
import { BudgetSpent, budget } from './budget.ts'
import { isObject, typeName } from './checks.ts'
import { priced } from './cost.ts'
import { explain } from './explain.ts'
import { DIALECT_URIS, type Dialect, dialectOf } from './keywords.ts'
import { type Clean, Reader } from './reader.ts'
import { Definitions, resolveReferences } from './references.ts'
import { buildValidator } from './validator.ts'
import { narrow } from './widths.ts'

export { fieldExists, formatAt } from './fields.ts'
export { isKnownFormat, KNOWN_FORMATS } from './formats.ts'
export { canRunPattern } from './pattern.ts'

/** A user's schema, ready to check values. */
export type CompiledSchema = {
  /** The faults of a value, none when it is valid. `at` is where the value stands in the request. */
  validate(data: unknown, at?: string): Detail[]
  /** Whether the root takes no properties but those it names. */
  isClosed: boolean
}

// Some ten nanoseconds each. Checking goes for the verdict; explaining collects faults, which take memory.
const CHECK_STEPS = 20_000_000
const EXPLAIN_STEPS = 200_000

/** Compiles a user's schema, found at `at` in the request; throws what is wrong with it, by place. */
export function compileSchema(schema: unknown, at: string): CompiledSchema {
  checkJson(schema, at)
  const { root, reader, definitions } = read(schema, at)
  const whole = { $ref: definitions.add(root), $defs: definitions.all }
  const unevaluated = [...reader.schemas.values()].some(
    (clean) => 'unevaluatedProperties' in clean || 'unevaluatedItems' in clean,
  )
  const build = (allErrors: boolean) => {
    budget.left = CHECK_STEPS
    return buildValidator(whole, reader.patterns, { allErrors, unevaluated })
  }
  const verdict = attempt(() => build(false))
  const message = 'The schema nests too deeply to be compiled. Flatten it.'
  if (!verdict) throw invalid({ path: at, code: 'too_complex', message })
  let explaining: ValidateFunction | undefined
  return {
    isClosed: root['additionalProperties'] === false || root['unevaluatedProperties'] === false,
    validate(data, at = '') {
      if (!isObject(data)) return [notAnObject(data, at)]
      const first = run(verdict, data, CHECK_STEPS)
      if (first?.length === 0) return []
      if (!first) return [tooComplex(at)]
      explaining ??= attempt(() => build(true))
      const all = explaining && run(explaining, data, EXPLAIN_STEPS)
      return explain(all?.length ? all : first, at, definitions)
    },
  }
}

/** The errors of a value, or undefined when finding them takes too long. */
function run(validate: ValidateFunction, data: unknown, steps: number): ErrorObject[] | undefined {
  budget.left = steps
  const errors = attempt(() => (validate(data) ? [] : (validate.errors ?? [])))
  // Else the compiled schema would keep the value alive.
  validate.errors = null
  return errors
}

/** Runs what a hostile schema can make endless or too deep for the stack. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if (error instanceof BudgetSpent || error instanceof RangeError) return undefined
    throw error
  }
}

function notAnObject(data: unknown, at: string): Detail {
  return {
    path: at,
    code: 'type',
    message: 'This must be an object.',
    expected: 'object',
    received: typeName(data),
  }
}

function tooComplex(at: string): Detail {
  const message = 'Checking this value against its schema takes too long. Simplify the schema or send less.'
  return { path: at, code: 'too_complex', message }
}

function read(schema: unknown, at: string): { root: Clean; reader: Reader; definitions: Definitions } {
  if (!isObject(schema)) {
    const message = 'A schema is an object, such as {"type": "object", "properties": {}}.'
    throw invalid({ path: at, code: 'type', message, expected: 'object', received: typeName(schema) })
  }
  const bytes = Buffer.byteLength(JSON.stringify(schema))
  if (bytes > LIMITS.schemaBytes) {
    const message = `A schema takes at most ${LIMITS.schemaBytes} bytes. Shorten it.`
    throw invalid({ path: at, code: 'too_large', message, expected: LIMITS.schemaBytes, received: bytes })
  }
  const reader = new Reader(at, rootDialect(schema, at))
  if (schema['type'] !== undefined && schema['type'] !== 'object') {
    const message = 'Records are objects: the type of a schema\'s root is "object".'
    reader.report(['type'], 'enum', message, { expected: 'object', allowed: ['object'], hint: 'object' })
  }
  const root = reader.schema(schema, []) as Clean
  const definitions = new Definitions()
  if (reader.faults.length === 0) resolveReferences(reader, schema, definitions)
  const [first, ...more] = reader.faults
  if (first) throw invalid(first, ...more)
  for (const clean of reader.schemas.values()) {
    for (const each of [clean, ...narrow(clean, definitions)]) priced(each)
  }
  return { root, reader, definitions }
}

function rootDialect(schema: Record<string, unknown>, at: string): Dialect {
  const uri = schema['$schema'] ?? DIALECT_URIS[0]
  const dialect = typeof uri === 'string' ? dialectOf(uri) : undefined
  if (dialect) return dialect
  const hint = typeof uri === 'string' ? nearest(uri, DIALECT_URIS) : undefined
  throw invalid({
    path: at + pointer('$schema'),
    code: 'enum',
    message: `Schemas are written in ${DIALECT_URIS.join(' or ')}.`,
    allowed: DIALECT_URIS,
    ...(hint && { hint }),
  })
}
