/** Patches of lists: members to append and to remove, at places that mirror `data`. */
import { canonicalText } from '../../contract/canonical-hash.ts'
import { invalid } from '../../foundation/errors.ts'
import { isObject } from '../../foundation/is-object.ts'
import { pointer } from '../../json/parse.ts'

/** Members by place: `{ "tags": ["vip"], "address": { "phones": ["…"] } }`. */
export type ListPatch = { readonly append?: unknown; readonly remove?: unknown }

type Change = 'append' | 'remove'

/**
 * Applies a patch of lists to a copy of the data: removes first, then appends.
 * @throws VALIDATION_ERROR when a place has something else than a list, or the patch no list for it
 */
export function patchLists(data: unknown, { append, remove }: ListPatch): unknown {
  const removed = given(remove) ? at(data, remove, 'remove', []) : data
  return given(append) ? at(removed, append, 'append', []) : removed
}

const given = (members: unknown): boolean => members !== undefined && members !== null

function at(value: unknown, members: unknown, change: Change, path: readonly string[]): unknown {
  if (Array.isArray(members) && path.length > 0) return changed(value, members, change, path)
  if (!isObject(members)) throw notMembers(change, path)
  if (value !== undefined && value !== null && !isObject(value)) throw notThere(change, path, 'an object')
  const next: Record<string, unknown> = { ...value }
  for (const [key, below] of Object.entries(members)) {
    const own = Object.hasOwn(next, key) ? next[key] : undefined
    const patched = at(own, below, change, [...path, key])
    if (patched !== undefined) next[key] = patched
  }
  // Removing from what is not there makes nothing.
  return value === undefined && Object.keys(next).length === 0 ? undefined : next
}

function changed(
  value: unknown,
  members: readonly unknown[],
  change: Change,
  path: readonly string[],
): unknown {
  const isAbsent = value === undefined || value === null
  if (!isAbsent && !Array.isArray(value)) throw notThere(change, path, 'a list')
  if (members.length === 0 || (isAbsent && change === 'remove')) return value
  const list: readonly unknown[] = isAbsent ? [] : value
  if (change === 'append') return [...list, ...members]
  const gone = new Set(members.map(canonicalText))
  return list.filter((member) => !gone.has(canonicalText(member)))
}

const notMembers = (change: Change, path: readonly string[]) =>
  invalid({
    path: `/${change}${pointer(...path)}`,
    code: 'type',
    message: `${change} must be an object of lists, such as ${change}: {"tags": ["x"]}.`,
    expected: 'array',
  })

const notThere = (change: Change, path: readonly string[], expected: string) =>
  invalid({
    path: `/${change}${pointer(...path)}`,
    code: 'not_a_list',
    message: `The record has no list at "${path.join('.').slice(0, 128)}": ${expected} is needed there. Send the property in data to replace it.`,
    expected,
  })
