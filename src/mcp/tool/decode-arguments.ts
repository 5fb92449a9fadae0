/** Decodes stringified JSON arguments: models often send objects and arrays as JSON strings. */

import type { z } from 'zod'
import { check, inBody } from '../../contract/validate.ts'
import { adviseBody } from '../../dialects/parameters.ts'
import { DomainError } from '../../foundation/errors.ts'
import { isObject } from '../../foundation/is-object.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { parseJson } from '../../json/parse.ts'
import { type PortableSchema, TAKES } from '../../schema-shape/publish.ts'
import { PAGE } from './page-arguments.ts'

/**
 * Decodes every string where the published schema expects an object or array. Returns `args` itself if there
 * is none.
 */
export function decodeStringified(
  args: Record<string, unknown>,
  schema: PortableSchema,
): Record<string, unknown> {
  return decodeProperties(args, schema)
}

function decode(value: unknown, schema: PortableSchema | undefined): unknown {
  if (!schema) return value
  const plain = typeof value === 'string' ? decodeString(value, schema) : value
  if (Array.isArray(plain)) return decodeItems(plain, schema.items)
  return isObject(plain) ? decodeProperties(plain, schema) : plain
}

function decodeProperties(value: Record<string, unknown>, schema: PortableSchema): Record<string, unknown> {
  const { properties = {}, additionalProperties } = schema
  const rest = typeof additionalProperties === 'object' ? additionalProperties : undefined
  let copy: Record<string, unknown> | undefined
  // Without a schema for the others, only the properties that the schema names can change: a value may have thousands.
  for (const name of Object.keys(rest ? value : properties)) {
    if (!Object.hasOwn(value, name)) continue
    const part = value[name]
    const own = decode(part, Object.hasOwn(properties, name) ? properties[name] : rest)
    if (own === part) continue
    copy ??= { ...value }
    copy[name] = own
  }
  return copy ?? value
}

function decodeItems(items: unknown[], schema: PortableSchema | undefined): unknown[] {
  // Models do not write such long lists, and each item costs time.
  if (!schema || items.length > LIMITS.jsonMembers) return items
  const decoded = items.map((item) => decode(item, schema))
  return decoded.every((item, index) => item === items[index]) ? items : decoded
}

function decodeString(text: string, schema: PortableSchema): unknown {
  const opens = text.trimStart().charAt(0)
  const kind = opens === '{' ? 'object' : opens === '[' ? 'array' : undefined
  if (kind === undefined || !(schema.type === kind || schema[TAKES]?.includes(kind))) return text
  try {
    return parseJson(text)
  } catch (error) {
    // Not JSON: keep the string, so that validation reports the expected type.
    if (error instanceof DomainError) return text
    throw error
  }
}

/**
 * Validates the arguments of a call against the shape of its tool.
 * @throws VALIDATION_ERROR with every fault
 */
export function readArguments<In extends z.ZodObject>(
  args: Record<string, unknown>,
  shape: In,
  published: PortableSchema,
): z.output<In> {
  const decoded = decodeStringified(withoutNulls(withoutFiller(args, shape), shape), published)
  return check(shape, decoded, inBody(), (known) => adviseBody(decoded, known, PAGE))
}

/**
 * Leaves out arguments that are null where null has no meaning: models under a strict schema send every
 * argument. A required one stays, and is refused.
 */
function withoutNulls(args: Record<string, unknown>, shape: z.ZodObject): Record<string, unknown> {
  const isMeant = ([name, value]: [string, unknown]) => {
    const own = value === null && Object.hasOwn(shape.shape, name) ? shape.shape[name] : undefined
    return !own || own.safeParse(null).success || !own.safeParse(undefined).success
  }
  const meant = Object.entries(args).filter(isMeant)
  return meant.length === Object.keys(args).length ? args : Object.fromEntries(meant)
}

/** Some clients cannot call a tool without arguments and send this placeholder. */
const FILLER = 'random_string'

function withoutFiller(args: Record<string, unknown>, shape: z.ZodObject): Record<string, unknown> {
  if (
    !Object.hasOwn(args, FILLER) ||
    Object.values(shape.shape).some((each) => !each.safeParse(undefined).success)
  )
    return args
  const { [FILLER]: _, ...meant } = args
  return meant
}

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
