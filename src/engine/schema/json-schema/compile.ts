/** JSON Schema validation in bounded time: compiles a schema once and checks values against it. */

import { nearest } from '../../../contract/suggest.ts'
import { capped, type Detail, type DomainError, invalid } from '../../../foundation/errors.ts'
import { isObject } from '../../../foundation/is-object.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { checkJson, pointer } from '../../../json/parse.ts'
import { typeName } from './checks.ts'
import { type BadDefault, compileDefaults } from './defaults.ts'
import { type Evaluate, Faults } from './evaluation.ts'
import { attempt, stepsUsed } from './evaluation-cost.ts'
import { buildEvaluators } from './evaluator.ts'
import { type Fill, TooMuch } from './fill-defaults.ts'
import { DIALECT_URIS, type Dialect, dialectOf } from './keywords.ts'
import { detail } from './messages.ts'
import { type FindMisspelt, findMisspelt } from './misspelt-properties.ts'
import { type Clean, Reader } from './normalize.ts'
import { listingOnce } from './property-names.ts'
import { Definitions, resolveReferences } from './references.ts'
import { firstWarnings, notebook, unusedDefault } from './schema-warnings.ts'
import { relax } from './subschemas.ts'

/** A compiled JSON Schema. */
export type CompiledSchema = {
  /** The verdict only; false also when evaluation exceeds the budget. */
  isValid(data: unknown, allowance?: Allowance): boolean
  /** The faults of a value; empty when it is valid. `at` is its JSON Pointer in the request. */
  validate(data: unknown, at?: string, allowance?: Allowance): Detail[]
  /** Whether the root rejects undeclared properties. */
  isClosed: boolean
  /** What the schema holds that is not checked. */
  warnings: readonly string[]
  /** The defaults that their own schemas refuse, but for those that are kept. */
  badDefaults(isKept?: (value: unknown) => boolean): readonly Detail[]
  /** Says where those are that are kept: they fill nothing. */
  unusedDefaults(): readonly string[]
  /**
   * Fills absent properties with their defaults; returns the value itself if nothing is absent. Null if the
   * schema has no defaults.
   * @throws VALIDATION_ERROR when that takes too long, or adds more than `most` characters
   */
  fill: ((data: unknown, most: number, allowance?: Allowance) => unknown) | null
  /** Warns of properties that an open schema does not declare, and that are near to ones that it does. */
  misspelt: FindMisspelt | null
}

/** Step budget shared by all validations of one request. */
export class Allowance {
  private left: number
  private readonly refusal: () => DomainError

  constructor(steps: number, refusal: () => DomainError) {
    this.left = steps
    this.refusal = refusal
  }

  /**
   * Charges steps.
   * @throws the validation error when the budget is used up
   */
  charge(steps: number): void {
    this.left -= steps
    if (this.left < 0) throw this.refusal()
  }
}

/**
 * Compiles a user's schema, whose JSON Pointer in the request is `at`.
 * @throws VALIDATION_ERROR with each fault and its path
 */
export function compileSchema(schema: unknown, at: string): CompiledSchema {
  checkJson(schema, at)
  const { root, reader, definitions } = read(schema, at)
  const evaluatorOf = buildEvaluators(reader.patterns, definitions)
  const evaluate = attempt(() => evaluatorOf(root))
  if (!evaluate) throw invalid(tooComplexSchema(at))
  const defaults = attempt(() => compileDefaults({ root, reader, definitions, evaluatorOf }))
  const fill = defaults?.fill ?? null
  const placeOf = ({ owner }: BadDefault) => at + pointer(...(reader.paths.get(owner) ?? []), 'default')
  const explained = (bad: readonly BadDefault[]) => {
    const first = bad.slice(0, LIMITS.errorDetails)
    const details = attempt(() => first.map((each) => explain(each, evaluatorOf(each.schema), placeOf(each))))
    return details ? capped(details, bad.length) : [tooComplexSchema(at)]
  }
  const isValid = (data: unknown, allowance?: Allowance) =>
    isObject(data) && run(evaluate, data, null, allowance) === true
  return {
    warnings: firstWarnings(reader.notes.lines()),
    badDefaults: (isKept = () => false) =>
      defaults
        ? explained(defaults.bad.filter(({ owner }) => !isKept(reader.defaults.get(owner))))
        : [tooComplexSchema(at)],
    unusedDefaults: () => {
      const { note, lines } = notebook()
      for (const each of defaults?.bad ?? []) note(unusedDefault, placeOf(each))
      return lines()
    },
    fill: fill && ((data, most, allowance) => filled(fill, data, most, allowance)),
    isClosed: root['additionalProperties'] === false || root['unevaluatedProperties'] === false,
    misspelt: findMisspelt(schema),
    isValid,
    validate: (data, at = '', allowance) =>
      isObject(data) ? listingOnce(() => faultsOf(evaluate, data, at, allowance)) : [notAnObject(data, at)],
  }
}

/** The faults of a value; empty when it is valid. */
function faultsOf(evaluate: Evaluate, data: object, at: string, allowance?: Allowance): Detail[] {
  const verdict = run(evaluate, data, null, allowance)
  if (verdict === true) return []
  if (verdict === undefined) return [tooComplex(at)]
  // If the second run exceeds the budget, the faults found so far are reported.
  const faults = new Faults()
  run(evaluate, data, faults, allowance)
  if (faults.total === 0) return [tooComplex(at)]
  return capped(
    faults.list.map((fault) => detail(fault, at)),
    faults.total,
  )
}

/** The verdict; undefined when the budget is exceeded. */
function run(
  evaluate: Evaluate,
  data: unknown,
  faults: Faults | null,
  allowance?: Allowance,
): boolean | undefined {
  const verdict = attempt(() => evaluate(data, null, faults, ''))
  allowance?.charge(stepsUsed())
  return verdict
}

/** Fills in the defaults, within the budget. */
function filled(fill: Fill, data: unknown, most: number, allowance?: Allowance): unknown {
  try {
    const whole = attempt(() => ({ data: fill(data, { chars: 0, most }) }))
    allowance?.charge(stepsUsed())
    if (whole) return whole.data
  } catch (error) {
    if (!(error instanceof TooMuch)) throw error
    const message = `With the defaults of its schema, data has more than ${most} bytes. Send fewer objects at a time.`
    throw invalid({ path: '/data', code: 'too_large', message, expected: most })
  }
  throw invalid(tooComplex('/data'))
}

/** Why a default cannot be used. */
function explain({ reason, whole }: BadDefault, evaluate: Evaluate, path: string): Detail {
  const fault = { path, code: 'invalid_default' }
  if (reason === 'endless')
    return {
      ...fault,
      message: 'The default would contain itself without end. Leave out one of the defaults.',
    }
  if (reason === 'too_large') {
    const message = `With the defaults inside it, the default has more than ${LIMITS.schemaBytes} bytes. Shorten it.`
    return { ...fault, message, expected: LIMITS.schemaBytes }
  }
  const faults = new Faults()
  evaluate(whole, null, faults, '')
  const [first] = faults.list
  const { path: at, message, ...more } = first ? detail(first, '') : tooComplex('')
  const place = at ? ` At ${at}: ` : ' '
  return { ...more, ...fault, message: `The default does not match its own schema.${place}${message}` }
}

function notAnObject(data: unknown, at: string): Detail {
  return {
    path: at,
    code: 'type',
    message: `${at.slice(at.lastIndexOf('/') + 1) || 'The value'} must be an object.`,
    expected: 'object',
    received: typeName(data),
  }
}

const tooComplexSchema = (at: string): Detail => ({
  path: at,
  code: 'too_complex',
  message: 'The schema is too complex to be compiled. Simplify it.',
})

function tooComplex(at: string): Detail {
  const message = 'Checking this value against its schema takes too long. Simplify the schema or send less.'
  return { path: at, code: 'too_complex', message }
}

function read(schema: unknown, at: string): { root: Clean; reader: Reader; definitions: Definitions } {
  if (!isObject(schema)) {
    const message = 'A schema must be an object, such as {"type": "object", "properties": {}}.'
    throw invalid({ path: at, code: 'type', message, expected: 'object', received: typeName(schema) })
  }
  const bytes = Buffer.byteLength(JSON.stringify(schema))
  if (bytes > LIMITS.schemaBytes) {
    const message = `A schema can have at most ${LIMITS.schemaBytes} bytes. Shorten it.`
    throw invalid({ path: at, code: 'too_large', message, expected: LIMITS.schemaBytes, received: bytes })
  }
  const reader = new Reader(at, rootDialect(schema, at))
  if (schema['type'] !== undefined && schema['type'] !== 'object') {
    const message = 'The type of the root of a schema must be "object", because records are objects.'
    reader.report(['type'], 'enum', message, { expected: 'object', allowed: ['object'], hint: 'object' })
  }
  const root = reader.schema(schema, []) as Clean
  const definitions = new Definitions()
  if (reader.faults.length === 0) resolveReferences(reader, schema, definitions)
  const [first, ...more] = reader.faults
  if (first) throw invalid(first, ...more)
  relax(reader, definitions)
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
