/**
 * SQL of the last version before a new record or relationship: the last one in the log, or the last of a former base of the
 * same id. So the ETag of a deleted record never matches a new one.
 * @param base the parameter of the base
 */
export const formerVersion = (base: string, last: string): string =>
  `coalesce((${last}), (SELECT first_version - 1 FROM plinth.base WHERE id = ${base}), 0)`
