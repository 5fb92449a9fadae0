import { isObject } from '../../../foundation/is-object.ts'
import { graphql, type ResultOf } from '../../../graphql/document.ts'

/** The fields of a profile that the tool returns. */
export const ToolProfile = graphql(`fragment ToolProfile on RecordTypeProfile {
  count sampled
  fields { field types null_share: nullShare distinct top { value count } min max }
  omitted: omittedFields relationships examples { description query }
}`)
type Profile = ResultOf<typeof ToolProfile>
type Shown = Omit<Profile, 'examples'> & Partial<Pick<Profile, 'examples'>>
type Field = Profile['fields'][number]

/** Compacts a REST profile: drops uninformative members and limits the number of fields. */
export function sparing({ fields, omitted, ...profile }: Shown, most: number): object {
  const unshown = omitted + Math.max(0, fields.length - most)
  return {
    ...profile,
    fields: fields.slice(0, most).map(sparingField),
    ...(unshown > 0 && { omitted_fields: unshown }),
  }
}

/** Omits `top` if all its values occur once, and the range if `top` has all values. */
function sparingField({ field, types, null_share, distinct, top, min, max }: Field): object {
  const repeats = top.some(({ count }) => count > 1)
  const showsTop = top.length > 0 && (repeats || distinct <= top.length)
  const showsRange = !(showsTop && distinct <= top.length)
  return {
    field,
    types,
    ...(null_share && { null_share }),
    ...(distinct > 0 && { distinct }),
    ...(showsTop && { top }),
    ...(showsRange && min !== null && { min }),
    ...(showsRange && max !== null && { max }),
  }
}

/** Keywords of the outline of a schema, by the form of their values. */
const PLAIN = ['type', 'enum', 'const', 'format', 'default', 'required', '$ref', '$anchor', '$id'] as const
const ONE = ['items', 'additionalProperties', 'unevaluatedProperties'] as const
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'] as const
const MAPS = ['properties', 'patternProperties', '$defs', 'definitions'] as const

/** Keeps names, types, formats, enums, defaults and required properties, and drops all other keywords. */
export function briefSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(briefSchema)
  if (!isObject(schema)) return schema
  const kept = [
    ...PLAIN.map((name) => [name, schema[name]]),
    // Objects are open by default.
    ...ONE.map((name) => [name, schema[name] === true ? undefined : briefSchema(schema[name])]),
    ...LISTS.map((name) => [name, briefSchema(schema[name])]),
    ...MAPS.map((name) => [name, eachOf(schema[name])]),
  ]
  return Object.fromEntries(kept.filter(([, value]) => value !== undefined))
}

const eachOf = (map: unknown): unknown =>
  isObject(map)
    ? Object.fromEntries(Object.entries(map).map(([name, part]) => [name, briefSchema(part)]))
    : undefined
