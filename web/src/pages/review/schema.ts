/** What a change of a record type means, field by field, and what could be done for records that would not fit. */
import type { Json, Schema, Step } from '../../api/shapes.ts'
import type { Break, Edit, MigrationStep, Sample } from './load.ts'

type Definition = { json_schema?: Schema; [name: string]: unknown }

/** The definition after the steps; undefined where they are not about it, such as when it has changed meanwhile. */
export function applied(definition: unknown, steps: readonly Step[]): Definition | undefined {
  let whole = structuredClone(definition) as Json
  for (const { op, path, value = null } of steps) {
    const keys = path.split('/').slice(1).map(unescaped)
    const last = keys.pop()
    if (last === undefined) {
      whole = value
      continue
    }
    let at: Json | undefined = whole
    for (const key of keys) at = memberOf(at, key)
    if (at === null || typeof at !== 'object') return undefined
    if (Array.isArray(at)) {
      const index = last === '-' ? at.length : Number(last)
      if (!Number.isInteger(index) || index > at.length) return undefined
      at.splice(index, op === 'add' ? 0 : 1, ...(op === 'remove' ? [] : [value]))
    } else if (op === 'remove') delete at[last]
    else Object.defineProperty(at, last, { value, enumerable: true, configurable: true, writable: true })
  }
  return whole as Definition
}

const unescaped = (key: string) => key.replaceAll('~1', '/').replaceAll('~0', '~')
const memberOf = (at: Json | undefined, key: string): Json | undefined =>
  Array.isArray(at)
    ? at[Number(key)]
    : at !== null && typeof at === 'object' && Object.hasOwn(at, key)
      ? at[key]
      : undefined

/** A field whose schema changes. An absent side: the field is new, or goes. */
export type FieldRow = {
  name: string
  before?: Schema
  after?: Schema
  isNeeded: boolean
  wasNeeded: boolean
}

/** The definitions of a record type before and after an edit. */
export function sidesOf(edit: Edit, production: unknown): { before?: Definition; after?: Definition } {
  if (edit.op === 'delete') return { before: production as Definition }
  const after = applied(edit.op === 'create' ? {} : production, edit.diff)
  return { ...(edit.op === 'update' && { before: production as Definition }), ...(after && { after }) }
}

export function fieldRows(before: Definition | undefined, after: Definition | undefined): FieldRow[] {
  const [old, next] = [before?.json_schema?.properties ?? {}, after?.json_schema?.properties ?? {}]
  const row = (name: string): FieldRow => ({
    name,
    ...(Object.hasOwn(old, name) && { before: old[name] as Schema }),
    ...(Object.hasOwn(next, name) && { after: next[name] as Schema }),
    wasNeeded: before?.json_schema?.required?.includes(name) === true,
    isNeeded: after?.json_schema?.required?.includes(name) === true,
  })
  return [...new Set([...Object.keys(old), ...Object.keys(next)])]
    .map(row)
    .filter(
      (each) =>
        each.wasNeeded !== each.isNeeded || JSON.stringify(each.before) !== JSON.stringify(each.after),
    )
}

/** The steps that no row of a field shows: names, indexes, the title. */
export const otherSteps = (steps: readonly Step[]): Step[] =>
  steps.filter(({ path }) => path !== '' && !/^\/json_schema\/(properties|required)(\/|$)/.test(path))

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

/** The record type of a path such as `/record_type/ticket/json_schema`. */
export const typeOf = (path: string): string => unescaped(path.split('/')[2] ?? '')

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
