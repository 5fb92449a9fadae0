import type { TypeName } from '@pgsql/types'
import { nearest } from '../../../../contract/suggest.ts'
import { LIMITS } from '../../../../foundation/limits.ts'
import { wordsOf } from '../relations/context.ts'
import type { Source } from '../syntax/source-map.ts'

/** Allow-list of cast types; excludes types whose casts read the system catalogs. */
const TYPES = new Set(
  `text varchar int2 int4 int8 numeric float4 float8 bool date time timetz timestamp timestamptz interval uuid json
  jsonb jsonpath`.split(/\s+/),
)

const SPELLINGS: Readonly<Record<string, string>> = {
  string: 'text',
  bpchar: 'text',
  char: 'text',
  datetime: 'timestamptz',
  double: 'double precision',
  object: 'jsonb',
  array: 'jsonb',
}

/** The unqualified name of a type. */
export const typeNameOf = (type: TypeName | undefined): string => wordsOf(type?.names).at(-1) ?? ''

/**
 * Checks a cast type against the allow-list.
 * @throws VALIDATION_ERROR
 */
export function checkType(type: TypeName | undefined, source: Source): void {
  const words = wordsOf(type?.names)
  const name = words.at(-1) ?? ''
  const known = TYPES.has(name) && (words.length === 1 || (words.length === 2 && words[0] === 'pg_catalog'))
  if (!known) {
    const hint = Object.hasOwn(SPELLINGS, name) ? SPELLINGS[name] : nearest(name, TYPES)
    const message = `The type ${words
      .filter((word) => word !== 'pg_catalog')
      .join('.')
      .slice(0, 64)} is not available here.`
    throw source.fault('unsupported', message, type?.location, { allowed: [...TYPES], ...(hint && { hint }) })
  }
  if ((type?.arrayBounds?.length ?? 0) > LIMITS.sqlArrayDimensions)
    throw source.fault(
      'unsupported',
      `An array has at most ${LIMITS.sqlArrayDimensions} dimensions.`,
      type?.location,
    )
}
