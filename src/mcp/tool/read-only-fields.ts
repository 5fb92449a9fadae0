/** Read-only record fields. Models send them back together with the rest of the record. */
const READ_ONLY = ['created_at', 'updated_at', 'version', 'status', 'cancelled_at', 'valid'] as const
/** Null in records without an external id pair; writes do not accept null for them. */
const PAIR = ['external_id', 'external_source'] as const

type Args = Record<string, unknown>
type Parted = { args: Args; stated?: Args }

/** Splits read-only fields off the arguments of a write. The engine compares them with the stored record. */
export function splitReadOnlyFields(args: Args): Parted {
  return part(args, (name) => isOneOf(READ_ONLY, name) || (isOneOf(PAIR, name) && args[name] === null))
}

/** Splits read-only fields off flat arguments, except those that the type has as properties. */
export function splitReadOnlyFieldsOfType(data: Args, has: (property: string) => boolean): Parted {
  const echoed = (name: string) => isOneOf(READ_ONLY, name) || isOneOf(PAIR, name) || name === 'record_type'
  return part(data, (name) => echoed(name) && !has(name))
}

const isOneOf = (names: readonly string[], name: string) => names.includes(name)

function part(args: Args, isReadOnly: (name: string) => boolean): Parted {
  const readOnly = Object.entries(args).filter(([name]) => isReadOnly(name))
  if (readOnly.length === 0) return { args }
  return {
    args: Object.fromEntries(Object.entries(args).filter(([name]) => !isReadOnly(name))),
    stated: Object.fromEntries(readOnly),
  }
}
