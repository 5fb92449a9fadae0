/** Decodes stringified JSON arguments: models often send objects and arrays as JSON strings. */
import { DomainError } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { parseJson } from '../../json/index.ts'
import type { PortableSchema } from '../schema-projection/publish.ts'

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
  let isSame = true
  const decoded = Object.entries(value).map(([name, part]) => {
    const own = decode(part, Object.hasOwn(properties, name) ? properties[name] : rest)
    if (own !== part) isSame = false
    return [name, own] as const
  })
  return isSame ? value : Object.fromEntries(decoded)
}

function decodeItems(items: unknown[], schema: PortableSchema | undefined): unknown[] {
  // Models do not write such long lists, and each item costs time.
  if (!schema || items.length > LIMITS.jsonMembers) return items
  const decoded = items.map((item) => decode(item, schema))
  return decoded.every((item, index) => item === items[index]) ? items : decoded
}

function decodeString(text: string, { type }: PortableSchema): unknown {
  const opens = text.trimStart().charAt(0)
  if (!((type === 'object' && opens === '{') || (type === 'array' && opens === '['))) return text
  try {
    return parseJson(text)
  } catch (error) {
    // Not JSON: keep the string, so that validation reports the expected type.
    if (error instanceof DomainError) return text
    throw error
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
