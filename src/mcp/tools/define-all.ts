/** Several definitions of one call, in one transaction: each is an operation of a batch. */

import type { z } from 'zod'
import { check, inBody } from '../../contract/validate.ts'
import { DomainError, invalid, withPaths } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import type { Context } from '../../graphql/context.ts'
import { staticOperation } from '../../graphql/execute.ts'

const run = staticOperation(`mutation DefineAll($base: String!, $operations: JSON!) {
  batch(base: $base, operations: $operations) { rows(records: false) warnings dry_run: dryRun }
}`)

/** One definition as an operation on types, which merges its fields. */
export type Definition = {
  readonly kind: 'record_type' | 'relationship_type'
  readonly id: string
  readonly operation: object
}
type Did = { index: number; operation: string; id: string; version: number; warnings?: readonly string[] }

/**
 * Reads the definitions of `also`, with errors at their place in it.
 * @throws VALIDATION_ERROR
 */
export function readAlso<Shape extends z.ZodObject, T>(
  also: unknown,
  shape: Shape,
  read: (args: z.output<Shape>) => T,
): T[] {
  if (!Array.isArray(also) || also.length > LIMITS.definitionsOfCall)
    throw invalid({
      path: '/also',
      code: Array.isArray(also) ? 'too_many' : 'type',
      message: `also must be a list of at most ${LIMITS.definitionsOfCall} definitions, each with the arguments of define.`,
    })
  return also.map((each: unknown, n) => {
    try {
      return read(check(shape, each, inBody()))
    } catch (thrown) {
      throw withPaths(thrown, (path) => `/also/${n}${path}`)
    }
  })
}

/** Runs the definitions, the record types first, because relationship types name them. Answers in their order. */
export async function defineAll(base: string, definitions: readonly Definition[], context: Context) {
  const order = definitions
    .map((definition, n) => ({ ...definition, n }))
    .sort((a, b) => Number(a.kind !== 'record_type') - Number(b.kind !== 'record_type') || a.n - b.n)
  const operations = order.map(({ operation }) => operation)
  const { rows, warnings, dry_run } = await run({ base, operations }, context).then(
    ({ batch }) => batch,
    (thrown: unknown) => {
      throw withPaths(withoutNumber(thrown), (path) => placeOf(path, order))
    },
  )
  const done = (rows as readonly Did[]).map(({ index, operation, id, version, warnings: of = [] }) => {
    const { kind, n } = order[index] as (typeof order)[number]
    return { n, of, did: { [kind]: id, operation, version } }
  })
  const said = [...(warnings ?? []), ...done.flatMap(({ of }) => of)]
  return {
    data: done.sort((a, b) => a.n - b.n).map(({ did }) => did),
    ...(dry_run && { dry_run }),
    ...(said.length > 0 && { meta: { warnings: [...new Set(said)] } }),
  }
}

/** The number of the operation is not that of the definition; the path names the definition. */
function withoutNumber(thrown: unknown): unknown {
  if (!(thrown instanceof DomainError)) return thrown
  const { code, message, details, cause } = thrown
  return new DomainError(code, message.replace(/^Operation \d+: /, ''), { details, cause })
}

/** `/operations/1/body/json_schema` → `/also/0/json_schema`; of the first definition `/json_schema`. */
function placeOf(path: string, order: readonly { kind: string; n: number }[]): string {
  const [, index, rest = ''] = /^\/operations\/(\d+)(?:\/body)?(\/.*)?$/.exec(path) ?? []
  const at = index === undefined ? undefined : order[Number(index)]
  if (!at) return ''
  return `${at.n === 0 ? '' : `/also/${at.n - 1}`}${rest === '/id' ? `/${at.kind}` : rest}`
}
