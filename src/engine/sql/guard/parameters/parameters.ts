/** Parameters of a statement: `$1` or `:name`, with their values. */
import { type Detail, invalid } from '../../../../foundation/errors.ts'
import { LIMITS } from '../../../../foundation/limits.ts'
import { pointer } from '../../../../json/parse.ts'
import type { Parser } from '../syntax/parse-statement.ts'
import { Source } from '../syntax/source-map.ts'
import { namedParameters } from './named-parameters.ts'

/** The statement parameters, in the order of `$1…$n`. */
export type Parameters = {
  values: readonly unknown[]
  /** The value of `$number`; undefined without one. */
  valueOf(number: number): unknown
  /** JSON Pointer of a parameter in the request. */
  pathOf(number: number): string
  /** The parameter as the statement has it. */
  nameOf(number: number): string
  /** Whether parameters are named. */
  isNamed: boolean
}

/**
 * Reads the parameters and replaces names with `$n`.
 * @throws VALIDATION_ERROR at `/params` or `/query`
 */
export function readParameters(
  parser: Parser,
  text: string,
  params: unknown,
): { source: Source; parameters: Parameters } {
  if (params === undefined || params === null || Array.isArray(params)) {
    const values: readonly unknown[] = params ?? []
    checkValues(values.map((value, index) => [pointer('params', String(index)), value]))
    refuseNames(parser, text)
    return { source: new Source(text), parameters: numbered(values) }
  }
  if (typeof params !== 'object')
    throw invalid({
      path: '/params',
      code: 'type',
      message: 'params must be an array for $1, $2 … or an object for :name.',
      expected: ['array', 'object'],
    })
  const entries = Object.entries(params)
  checkValues(entries.map(([name, value]) => [pointer('params', name), value]))
  return named(parser, text, new Map(entries))
}

function numbered(values: readonly unknown[]): Parameters {
  return {
    values,
    valueOf: (number) => values[number - 1],
    pathOf: (number) => pointer('params', String(number - 1)),
    nameOf: (number) => `$${number}`,
    isNamed: false,
  }
}

function named(parser: Parser, text: string, given: ReadonlyMap<string, unknown>) {
  const { source, names } = namedParameters(parser, text, given)
  const missing = names.filter((name) => !given.has(name))
  const used = new Set(names)
  const unused = [...given.keys()].filter((name) => !used.has(name))
  const faults: Detail[] = [
    ...missing.map((name) => ({
      path: pointer('params', name),
      code: 'missing_parameter',
      message: `The statement uses :${name}, and params has no "${name}".`,
    })),
    ...unused.map((name) => ({
      path: pointer('params', name),
      code: 'unused_parameter',
      message: `The statement does not use :${name.slice(0, 64)}. Leave it out of params, or use it.`,
    })),
  ]
  const [first, ...rest] = faults
  if (first) throw invalid(first, ...rest)
  const values = names.map((name) => given.get(name))
  const pathOf = (number: number) => pointer('params', names[number - 1] ?? '')
  const nameOf = (number: number) => `:${names[number - 1] ?? ''}`
  return { source, parameters: { ...numbered(values), pathOf, nameOf, isNamed: true } }
}

function refuseNames(parser: Parser, text: string): void {
  const { names, source } = namedParameters(parser, text, new Map())
  const [name] = names
  if (name !== undefined)
    throw source.fault(
      'missing_parameter',
      `:${name} is a named parameter: send params as an object, {"${name}": …}.`,
      undefined,
      { hint: `{"${name}": …}` },
    )
}

function checkValues(entries: readonly (readonly [path: string, value: unknown])[]): void {
  if (entries.length > LIMITS.sqlParameters) {
    const message = `A statement can have at most ${LIMITS.sqlParameters} parameters. Send a list as one array.`
    throw invalid({ path: '/params', code: 'too_many', message, expected: LIMITS.sqlParameters })
  }
  const chars = entries.reduce((sum, [, value]) => sum + charsOf(value, LIMITS.sqlParameterChars - sum), 0)
  if (chars > LIMITS.sqlParameterChars) {
    const message = `The parameters of a statement can have at most ${LIMITS.sqlParameterChars} characters in total. Send fewer values at a time.`
    throw invalid({ path: '/params', code: 'too_long', message, expected: LIMITS.sqlParameterChars })
  }
  for (const [path, value] of entries) {
    const fault = faultOf(value)
    if (fault) throw invalid({ path, ...fault })
  }
}

/** Approximate JSON length of a value; stops counting above `most`. */
function charsOf(value: unknown, most: number): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 2
  let chars = 2
  if (Array.isArray(value))
    for (const item of value) {
      chars += 1 + charsOf(item, most - chars)
      if (chars > most) break
    }
  else
    for (const [name, item] of Object.entries(value)) {
      chars += name.length + 4 + charsOf(item, most - chars)
      if (chars > most) break
    }
  return chars
}

/** Validates a parameter value: PostgreSQL text cannot hold NUL or lone surrogates. */
function faultOf(value: unknown): { code: string; message: string } | undefined {
  if (
    value === undefined ||
    typeof value === 'bigint' ||
    typeof value === 'function' ||
    typeof value === 'symbol'
  )
    return { code: 'not_json', message: 'A parameter must be a JSON value.' }
  if (typeof value === 'number' && !Number.isFinite(value))
    return { code: 'not_json', message: 'A parameter must be a finite number.' }
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (/\0|\\u0000/.test(text) || !text.isWellFormed())
    return {
      code: 'invalid_string',
      message: 'A parameter must not contain NUL or half of a surrogate pair.',
    }
  return undefined
}
