/** Fields that a record is read with and no write sets; models send them back with the rest of the record. */
const READ_ONLY = ['created_at', 'updated_at', 'version', 'status', 'cancelled_at', 'valid'] as const
/** Of a record without a pair these are null, which no write takes. */
const PAIR = ['external_id', 'external_source'] as const

type Args = Record<string, unknown>
type Parted = { args: Args; stated?: Args }

/** The arguments of a write without what the record says of itself; that is held to what is stored. */
export function takeEchoes(args: Args): Parted {
  return part(args, (name) => isOneOf(READ_ONLY, name) || (isOneOf(PAIR, name) && args[name] === null))
}

/** The same of properties of data: those that the type does not have. */
export function takeEchoesOfType(data: Args, has: (property: string) => boolean): Parted {
  const echoed = (name: string) => isOneOf(READ_ONLY, name) || isOneOf(PAIR, name) || name === 'record_type'
  return part(data, (name) => echoed(name) && !has(name))
}

const isOneOf = (names: readonly string[], name: string) => names.includes(name)

function part(args: Args, isEcho: (name: string) => boolean): Parted {
  const echoes = Object.entries(args).filter(([name]) => isEcho(name))
  if (echoes.length === 0) return { args }
  return {
    args: Object.fromEntries(Object.entries(args).filter(([name]) => !isEcho(name))),
    stated: Object.fromEntries(echoes),
  }
}
