import { digest } from '../../../contract/canonical-hash.ts'
import { invalid } from '../../../foundation/errors.ts'
import { isObject } from '../../../foundation/is-object.ts'
import { bothFilters, trustedFilter } from '../../data/filter/check-fields.ts'
import { underAllNames } from '../../data/filter/former-names.ts'
import { parseFilter } from '../../data/filter/parse.ts'
import { parseField } from '../../schema/compiled-types/field-path.ts'
import { accessToTypes } from '../../storage/access/narrow-access.ts'
import type { PolicyInput, TypePolicy } from '../policy.ts'
import type { Scope } from '../scope.ts'

/**
 * Narrows a scope to some types of one base, each with its row policy; repeated policies for a type are
 * combined with AND. Types under a policy have no grants in the narrowed scope, so code that does not enforce
 * policies denies access by default.
 * @throws VALIDATION_ERROR for an invalid filter or field list
 */
export function withPolicy(scope: Scope, baseId: string, inputs: readonly PolicyInput[]): Scope {
  if (scope.policy) throw new Error('A scope is narrowed once')
  const types = new Map<string, TypePolicy>()
  for (const input of inputs) {
    const policy = readPolicy(input)
    const known = types.get(input.recordType)
    types.set(input.recordType, known ? both(known, policy) : policy)
  }
  const named = new Set(types.keys())
  const bounded = new Map([...types].filter(([, policy]) => bounds(policy)))
  const whole = new Set([...named].filter((id) => !bounded.has(id)))
  return {
    ...scope,
    access: accessToTypes(scope.access, baseId, whole),
    policy: {
      baseId,
      types: bounded,
      access: accessToTypes(scope.access, baseId, named),
      name: digest(['policy', baseId, inputs.map(({ renamedIn: _, ...input }) => input)]),
    },
  }
}

function readPolicy(input: PolicyInput): TypePolicy {
  const { filter: raw, writeFilter, fields, defaults, attachments, renamedIn } = input
  const read = (of: unknown, at: string) => trustedFilter(underAllNames(parseFilter(of, at), renamedIn))
  const filter = raw == null ? null : read(raw, '/filter')
  return {
    filter,
    writeFilter:
      writeFilter == null ? filter : isEmpty(writeFilter) ? null : read(writeFilter, '/write_filter'),
    visible: fields ? parseVisible(fields, '/fields') : null,
    defaults: defaults ?? {},
    attachments: attachments ?? false,
  }
}

/** Whether a write filter is no condition: `{}`. */
export const isEmpty = (filter: unknown): boolean => isObject(filter) && Object.keys(filter).length === 0

const bounds = ({ filter, writeFilter, visible, defaults }: TypePolicy): boolean =>
  filter !== null || writeFilter !== null || visible !== null || Object.keys(defaults).length > 0

const both = (one: TypePolicy, other: TypePolicy): TypePolicy => ({
  filter: bothFilters(one.filter, other.filter),
  writeFilter: bothFilters(one.writeFilter, other.writeFilter),
  visible:
    one.visible && other.visible
      ? one.visible.filter((name) => other.visible?.includes(name))
      : one.visible || other.visible,
  defaults: { ...one.defaults, ...other.defaults },
  attachments: one.attachments || other.attachments,
})

/**
 * Parses `["data.name", "data.status"]` into visible properties; null when `data` as a whole is included.
 * @throws VALIDATION_ERROR
 */
function parseVisible(fields: readonly string[], at: string): readonly string[] | null {
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
    message: `"${text.slice(0, 64)}" is not a top-level property of data. Name properties such as "data.name".`,
    received: text.slice(0, 64),
    ...(typeof name === 'string' && { hint: `data.${name}` }),
  })
}
