import { toSnake } from '../../../contract/field-names.ts'
import { ID_RULES, isTypeId } from '../../../contract/ids.ts'
import { check, inBody } from '../../../contract/validate.ts'
import { invalid } from '../../../foundation/errors.ts'
import type { Kind, ResourceAddress, Stored, View } from './kind.ts'
import { isRedacted, redact } from './secrets.ts'

/**
 * Reads the fields to store: the sent ones, and for the others their defaults or their previous values.
 * GraphQL sends null for omitted fields, so null means the default.
 * @throws VALIDATION_ERROR with every fault of the shape
 */
export function readFields<F extends object, R extends Stored>(
  { kind, id }: Pick<ResourceAddress<F, R>, 'kind' | 'id'>,
  input: object,
  before: F | null,
): F {
  const defaults = kind.defaults(id)
  const names = Object.keys(defaults) as (keyof F & string)[]
  const sent = input as Partial<Record<keyof F, unknown>>
  const given = names.filter((name) => (sent[name] ?? null) !== null && !isRedacted(kind, name, sent[name]))
  const body = check(
    kind.body,
    Object.fromEntries(given.map((name) => [toSnake(name), sent[name]])),
    inBody(),
  )
  if (!(kind.ids?.isValid ?? isTypeId)(id)) throw invalidId(kind, id)
  const fieldOf = (name: keyof F & string) =>
    sent[name] === undefined && before ? before[name] : (body[toSnake(name)] ?? defaults[name])
  const fields = Object.fromEntries(names.map((name) => [name, fieldOf(name)])) as F
  return kind.normalize?.(fields) ?? fields
}

const invalidId = ({ label, ids }: Pick<Kind, 'label' | 'ids'>, received: string) =>
  invalid({
    path: '/id',
    code: 'invalid_id',
    message: `${label.charAt(0).toUpperCase()}${label.slice(1)} id must be ${ids?.rule ?? ID_RULES.type}.`,
    received,
  })

/** Reads the fields of a row. */
export function fieldsOf<F extends object, R extends Stored>(kind: Kind<F, R>, row: R): F {
  if (kind.fields) return kind.fields(row)
  const columns = row as unknown as F
  const names = Object.keys(kind.defaults(row.id)) as (keyof F)[]
  return Object.fromEntries(names.map((name) => [name, columns[name]])) as F
}

/** The form of a row in the change log. */
export const stateOf = <F extends object, R extends Stored>(kind: Kind<F, R>, row: R): View<F> => ({
  baseId: row.baseId,
  id: row.id,
  ...redact(kind, fieldsOf(kind, row)),
  ...kind.logged?.(row),
  version: row.version,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
})

/** The form of a row in responses. */
export const viewOf = <F extends object, R extends Stored>(kind: Kind<F, R>, row: R): View<F> => ({
  ...stateOf(kind, row),
  ...kind.shown?.(row),
})
