import { invalid, withPaths } from '../../foundation/errors.ts'
import type { TypeView } from './base-view.ts'
import { sortFields } from './type-set.ts'

/** A sort of one-key objects, as the engine takes it. */
export function toSort(sort: readonly object[] | null | undefined, type: TypeView): object[] | undefined {
  if (!sort) return undefined
  if (sort.length === 0)
    throw invalid({
      path: '/sort',
      code: 'out_of_range',
      message: 'sort must have a term, such as {_createdAt: DESC}. Or leave it out.',
    })
  const names = new Map(sortFields(type).map(({ field, name }) => [field, name]))
  return sort.map((term) => {
    const [[field, direction] = ['', '']] = Object.entries(term) as [string, string][]
    return { field: names.get(field) ?? field, direction }
  })
}

/** The error with the paths of the terms as they were sent: `/sort/0/field` is `/sort/0/title`. */
export const inSort = (thrown: unknown, sort: readonly object[] | null | undefined): unknown =>
  withPaths(thrown, (path) => {
    const [, index] = /^\/sort\/(\d+)\//.exec(path) ?? []
    const [field] = Object.keys(sort?.[Number(index)] ?? {})
    return field === undefined ? path : `/sort/${index}/${field}`
  })
