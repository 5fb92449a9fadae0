import { digest } from '../../contract/canonical-hash.ts'
import { invalid } from '../../foundation/errors.ts'
import { accessToTypes } from '../access/access.ts'
import { parseField } from '../compiled-types/field-path.ts'
import type { LensInput, TypeLens } from '../core/policy.ts'
import type { Scope } from '../core/scope.ts'
import { bothFilters, trustedFilter } from '../filter/bind.ts'
import { parseFilter } from '../filter/parse.ts'

/**
 * Narrows a scope to some types of one base, each with its row policy; repeated policies for a type are
 * combined with AND. Types under a policy have no grants in the narrowed scope, so code that does not enforce
 * policies denies access by default.
 * @throws VALIDATION_ERROR for an invalid filter or field list
 */
export function withLens(scope: Scope, baseId: string, inputs: readonly LensInput[]): Scope {
  if (scope.lens) throw new Error('A scope is narrowed once')
  const types = new Map<string, TypeLens>()
  for (const input of inputs) {
    const lens = readLens(input)
    const known = types.get(input.recordType)
    types.set(input.recordType, known ? both(known, lens) : lens)
  }
  const named = new Set(types.keys())
  const bounded = new Map([...types].filter(([, lens]) => bounds(lens)))
  const whole = new Set([...named].filter((id) => !bounded.has(id)))
  return {
    ...scope,
    access: accessToTypes(scope.access, baseId, whole),
    lens: {
      baseId,
      types: bounded,
      access: accessToTypes(scope.access, baseId, named),
      name: digest(['lens', baseId, inputs]),
    },
  }
}

const readLens = ({ filter, fields, defaults }: LensInput): TypeLens => ({
  filter: filter === undefined || filter === null ? null : trustedFilter(parseFilter(filter, '/filter')),
  shown: fields ? parseShown(fields, '/fields') : null,
  defaults: defaults ?? {},
})

const bounds = ({ filter, shown, defaults }: TypeLens): boolean =>
  filter !== null || shown !== null || Object.keys(defaults).length > 0

const both = (one: TypeLens, other: TypeLens): TypeLens => ({
  filter: bothFilters(one.filter, other.filter),
  shown:
    one.shown && other.shown
      ? one.shown.filter((name) => other.shown?.includes(name))
      : one.shown || other.shown,
  defaults: { ...one.defaults, ...other.defaults },
})

/**
 * Parses `["data.name", "data.status"]` into visible properties; null when `data` as a whole is included.
 * @throws VALIDATION_ERROR
 */
function parseShown(fields: readonly string[], at: string): readonly string[] | null {
  const names = fields.map((field, n) => readName(field, `${at}/${n}`))
  return names.includes(null) ? null : [...new Set(names as string[])]
}

function readName(text: string, at: string): string | null {
  const field = parseField(text, at)
  const path = field.kind === 'data' ? field.path : [null]
  const [name] = path
  if (path.length === 0) return null
  if (path.length === 1 && typeof name === 'string') return name
  throw invalid({
    path: at,
    code: 'invalid_field',
    message: `fields names properties of data, each whole: "data.name". "${text.slice(0, 64)}" is none.`,
    received: text.slice(0, 64),
    ...(typeof name === 'string' && { hint: `data.${name}` }),
  })
}
