/** A field as a person edits it, and the patch of the record type that it becomes. */
import type { Data, Json, RecordType, Schema } from '../../api/shapes.ts'
import { patchOf } from '../../parts/form.tsx'
import { own } from '../../parts/record-types.ts'
import { words } from '../../words.ts'
import { KINDS, type Kind, keyOf, kindOf } from './load.ts'

/** The names that a form shows: its fields are those of the draft. */
const is = words.types.draft
const labels = Object.entries(words.types.kinds) as [Kind, string][]
const kindIn = (draft: Data): Kind | undefined =>
  labels.find(([, label]) => label === own(draft, is.kind))?.[0]

const schemaOf = ({ json_schema: { properties = {} } }: RecordType, name: string | undefined) =>
  name !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined
const isNeeded = ({ json_schema: { required = [] } }: RecordType, name: string | undefined) =>
  name !== undefined && required.includes(name)

export function draftOf(type: RecordType, name: string | undefined): Data {
  const schema = schemaOf(type, name)
  if (name === undefined || !schema) return { [is.kind]: words.types.kinds.text, [is.needed]: false }
  const kind = kindOf(schema)
  return {
    [is.name]: name,
    ...(kind && { [is.kind]: words.types.kinds[kind] }),
    ...(kind === 'choice' && { [is.choices]: schema.enum ?? [] }),
    ...(schema.maxLength !== undefined && { [is.longest]: schema.maxLength }),
    [is.needed]: isNeeded(type, name),
    ...(schema.description !== undefined && { [is.about]: schema.description }),
  }
}

/** The form of a draft. A shape that only JSON can say keeps its kind. */
export function draftSchema(type: RecordType, name: string | undefined, draft: Data): Schema {
  const before = schemaOf(type, name)
  const kind = kindIn(draft)
  const fills = own(draft, is.needed) === true && !isNeeded(type, name)
  return {
    properties: {
      [is.name]: { type: 'string', maxLength: 100 },
      ...((!before || kindOf(before)) && { [is.kind]: { enum: labels.map(([, label]) => label) } }),
      ...(kind === 'choice' && { [is.choices]: { type: 'array', items: { type: 'string' } } }),
      ...(kind === 'text' && { [is.longest]: { type: 'integer', minimum: 1 } }),
      [is.needed]: { type: 'boolean' },
      ...(fills && { [is.fill]: afterOf(before, draft) }),
      [is.about]: { type: 'string', maxLength: 1000 },
    },
    required: [is.name],
  }
}

function afterOf(before: Schema | undefined, draft: Data): Schema {
  const kind = kindIn(draft)
  const stays = before && (kind === undefined || kindOf(before) === kind)
  const { description: _, maxLength: __, ...rest }: Schema = stays ? before : kind ? KINDS[kind] : {}
  const [about, longest, choices] = [own(draft, is.about), own(draft, is.longest), own(draft, is.choices)]
  return {
    ...rest,
    ...(kind === 'choice' && { enum: Array.isArray(choices) ? choices : [] }),
    ...(kind === 'text' && typeof longest === 'number' && { maxLength: longest }),
    ...(typeof about === 'string' && { description: about }),
  }
}

/** Undefined while it has no name, or that of another field. */
export function bodyOf(type: RecordType, name: string | undefined, draft: Data): object | undefined {
  const typed = own(draft, is.name)
  const to = typed === name ? name : keyOf(typed)
  if (to === undefined || to === '' || (to !== name && schemaOf(type, to))) return undefined
  const [key, before] = [name ?? to, schemaOf(type, name)]
  const after = afterOf(before, draft)
  const needed = own(draft, is.needed) === true
  const required = type.json_schema.required ?? []
  const fill = own(draft, is.fill)
  return {
    json_schema: {
      properties: { [key]: before ? patchOf(before as Data, after as Data) : (after as Json) },
      ...(needed !== required.includes(key) && {
        required: needed ? [...required, key] : required.filter((each) => each !== key),
      }),
    },
    migration: [
      ...(needed && fill !== undefined ? [{ op: 'default', field: `data.${key}`, value: fill }] : []),
      ...(to === key ? [] : [{ op: 'rename', field: `data.${key}`, to: `data.${to}` }]),
    ],
  }
}
