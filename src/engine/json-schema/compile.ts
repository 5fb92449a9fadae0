/** JSON Schema validation in bounded time: compiles a schema once and checks values against it. */

import { nearest } from '../../contract/suggest.ts'
import { capped, type Detail, type DomainError, invalid } from '../../foundation/errors.ts'
import { isObject } from '../../foundation/is-object.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { checkJson, pointer } from '../../json/parse.ts'
import { typeName } from './checks.ts'
import { type Evaluate, Faults } from './evaluation.ts'
import { BudgetSpent, budget } from './evaluation-cost.ts'
import { buildEvaluator } from './evaluator.ts'
import { DIALECT_URIS, type Dialect, dialectOf } from './keywords.ts'
import { detail } from './messages.ts'
import { type Clean, Reader } from './normalize.ts'
import { Definitions, resolveReferences } from './references.ts'

/** A compiled JSON Schema. */
export type CompiledSchema = {
  /** The verdict only; false also when evaluation exceeds the budget. */
  isValid(data: unknown, allowance?: Allowance): boolean
  /** The faults of a value; empty when it is valid. `at` is its JSON Pointer in the request. */
  validate(data: unknown, at?: string, allowance?: Allowance): Detail[]
  /** Whether the root rejects undeclared properties. */
  isClosed: boolean
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
  const evaluate = attempt(() => buildEvaluator(root, reader.patterns, definitions))
  if (!evaluate) throw invalid(tooComplexSchema(at))
  const isValid = (data: unknown, allowance?: Allowance) =>
    isObject(data) && run(evaluate, data, null, allowance) === true
  return {
    isClosed: root['additionalProperties'] === false || root['unevaluatedProperties'] === false,
    isValid,
    validate(data, at = '', allowance) {
      if (!isObject(data)) return [notAnObject(data, at)]
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
    },
  }
}

/** The verdict; undefined when the budget is exceeded. */
function run(
  evaluate: Evaluate,
  data: unknown,
  faults: Faults | null,
  allowance?: Allowance,
): boolean | undefined {
  const steps = LIMITS.checkSteps
  const verdict = attempt(() => evaluate(data, null, faults, ''))
  allowance?.charge(steps - Math.max(0, budget.left))
  return verdict
}

/** Catches budget exhaustion and stack overflow, which a hostile schema can cause. */
function attempt<T>(work: () => T): T | undefined {
  budget.left = LIMITS.checkSteps
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
