/**
 * In place of `plinth.record` in a statement that reads few records by keys: of each a change-set then asks whether it overrides
 * it, where else it hashes all that it holds. Production takes no notice.
 */
export const FEW_RECORDS = 'plinth.record /* few */'
/** The same of the entries of an index. */
export const FEW_ENTRIES = 'plinth.record_index /* few */'
