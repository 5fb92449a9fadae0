/** What could be done for the records that would not fit a changed record type. */
import type { Json, Schema } from '../../api/shapes.ts'
import { type Definition, type FieldRow, fieldRows, typeOf, unescaped } from '../../parts/schema.ts'
import type { Break, MigrationStep, Sample } from './load.ts'

/** What can be done for the records that a field keeps from fitting. */
export type Fix =
  | { kind: 'replace'; field: string; from: Json; choices: Json[]; first: Json }
  | { kind: 'default'; field: string; schema: Schema; choices: Json[]; first?: Json }
  | { kind: 'cast'; field: string; type: string }
  | { kind: 'drop'; field: string }
  | { kind: 'repeat'; steps: readonly MigrationStep[] }

/** The field that a sample is about: of a missing one, that which the message names. */
function fieldOf({ path, message }: Sample, required: readonly string[]): string | undefined {
  const [, top, name] = path.split('/')
  if (name !== undefined && top === 'data') return unescaped(name)
  return required.find((each) => message.includes(`"${each}"`))
}

export function fixesOf(
  { code, hint = '', samples = [], path }: Break,
  before: Definition | undefined,
  after: Definition | undefined,
): Fix[] {
  if (code !== 'records_invalid') return []
  const repeated = repeatedSteps(hint, path)
  if (repeated) return [{ kind: 'repeat', steps: repeated }]
  const rows = fieldRows(before, after)
  const required = after?.json_schema?.required ?? []
  const named = new Set(samples.map((sample) => fieldOf(sample, required)))
  return rows.filter(({ name }) => named.has(name)).flatMap(fixesOfField)
}

/** The migration of the preview, which the hint of the server offers to repeat. */
function repeatedSteps(hint: string, path: string): readonly MigrationStep[] | undefined {
  const [, text] = /"migration": (\{.*\})$/s.exec(hint) ?? []
  try {
    const all = JSON.parse(text ?? '') as Record<string, MigrationStep[]>
    return all[typeOf(path)]
  } catch {
    // No steps, or too many to be shown.
    return undefined
  }
}

function fixesOfField({ name, before, after, isNeeded, wasNeeded }: FieldRow): Fix[] {
  const field = `data.${name}`
  if (!after) return [{ kind: 'drop', field }]
  const choices = after.enum ?? (typeName(after) === 'boolean' ? [true, false] : [])
  const gone = (before?.enum ?? []).filter((value) => !after.enum?.includes(value))
  if (after.enum && gone.length > 0)
    return gone.map((from) => ({
      kind: 'replace',
      field,
      from,
      choices,
      first: nearest(from, before, after),
    }))
  if (isNeeded && !wasNeeded)
    return [
      {
        kind: 'default',
        field,
        schema: after,
        choices,
        ...(choices[0] !== undefined && { first: choices[0] }),
      },
    ]
  const type = typeName(after)
  if (before && type !== undefined && type !== typeName(before) && CASTS.includes(type))
    return [{ kind: 'cast', field, type }]
  return []
}
const CASTS = ['string', 'number', 'integer', 'boolean']
const typeName = ({ type }: Schema) => (Array.isArray(type) ? type[0] : type)

/** Of the values that stay, the one that stood next to it: mostly the next higher or lower. */
function nearest(value: Json, before: Schema | undefined, after: Schema): Json {
  const order = before?.enum ?? []
  const at = order.indexOf(value)
  const stays = (each: Json) => after.enum?.includes(each)
  return (
    order.slice(at + 1).find(stays) ?? order.slice(0, at).reverse().find(stays) ?? after.enum?.[0] ?? null
  )
}
