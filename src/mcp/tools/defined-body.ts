/** What define answers: what the call changed, not the whole type, which the caller knows or can read. */
import { isObject } from '../../foundation/is-object.ts'

type Fields = Readonly<Record<string, unknown>>

/** Fields that every answer has, where a write has them. */
const ALWAYS = ['id', 'operation', 'version', 'dry_run', 'meta']
/** Schemas, of which the answer names the properties. */
const SCHEMAS = ['json_schema', 'data_schema']

/**
 * The answer to a definition: its id and version, and of the sent fields what is stored now. Of a schema it names
 * the properties that are set, removed and renamed.
 */
export function definedBody(sent: Fields, written: Fields): Fields {
  const kept = Object.entries(written).filter(
    ([name]) => ALWAYS.includes(name) || (sent[name] !== undefined && !SCHEMAS.includes(name)),
  )
  const schema = SCHEMAS.find((name) => isObject(written[name]))
  const { meta, ...body } = Object.fromEntries(kept)
  return {
    ...body,
    ...(schema !== undefined &&
      ofSchema(sent, sent[schema], written[schema], written['operation'] === 'created')),
    ...(meta !== undefined && { meta }),
  }
}

function ofSchema({ migration }: Fields, sent: unknown, stored: unknown, isNew: boolean): object {
  const now = propertiesOf(stored)
  const named = Object.keys(propertiesOf(sent))
  const set = named.filter((name) => Object.hasOwn(now, name))
  const steps: readonly Fields[] = Array.isArray(migration) ? migration : []
  const renamed = steps.flatMap(({ op, field, to }) =>
    op === 'rename' ? [[bare(field), bare(to)] as const] : [],
  )
  const dropped = steps.flatMap(({ op, field }) => (op === 'drop' ? bare(field) : []))
  const moved = renamed.map(([from]) => from)
  const removed = [...new Set([...named, ...dropped])].filter(
    (name) => !Object.hasOwn(now, name) && !moved.includes(name),
  )
  return {
    // Not all properties of a type that has others.
    ...(set.length > 0 && { [isNew ? 'properties' : 'changed_properties']: set }),
    ...(removed.length > 0 && { removed }),
    ...(renamed.length > 0 && { renamed: Object.fromEntries(renamed) }),
    ...(isObject(sent) &&
      sent['required'] !== undefined &&
      isObject(stored) && { required: stored['required'] }),
  }
}

/** `data.amount` and `amount` are the same field of a step. */
const bare = (field: unknown): string => String(field).replace(/^data\./, '')

const propertiesOf = (schema: unknown): Fields => {
  const properties = isObject(schema) ? schema['properties'] : undefined
  return isObject(properties) ? properties : {}
}
