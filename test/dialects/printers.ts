import type { Filter } from '../support/reference.ts'

/** Mongo's filter, where groups stay groups. */
export function mongo(filter: Filter): object {
  if ('and' in filter) return { $and: filter.and.map(mongo) }
  if ('or' in filter) return { $or: filter.or.map(mongo) }
  if ('not' in filter) return { $nor: [mongo(filter.not)] }
  const { field, op, value } = filter
  if (op === 'is_null' || op === 'is_not_null') return { [field]: op === 'is_null' ? null : { $ne: null } }
  return { [field]: op === 'eq' ? value : { [op === 'neq' ? '$ne' : `$${op}`]: value } }
}
