/** What a change of a record type means, field by field. */
import type { Edit, Json, Schema, Step } from '../api/shapes.ts'

export type Definition = { json_schema?: Schema; [name: string]: unknown }

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

/** The record type of a path such as `/record_type/ticket/json_schema`. */
export const typeOf = (path: string): string => unescaped(path.split('/')[2] ?? '')

export const unescaped = (key: string) => key.replaceAll('~1', '/').replaceAll('~0', '~')
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
