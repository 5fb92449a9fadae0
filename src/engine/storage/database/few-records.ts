/**
 * In place of `plinth.record` in a statement that reads few records by keys: of each a change-set then asks whether it overrides
 * it, where else it hashes all that it holds. Production takes no notice.
 */
export const FEW_RECORDS = 'plinth.record /* few */'
/** The same of the entries `i` of an index, for a page. `type`: the parameter with their record type. */
export const fewEntries = (type: string): string => `plinth.record_index /* few of ${type} */ i`
/** The record of such an entry, of which a change-set asks nothing more. */
export const RECORD_OF_FEW_ENTRIES = 'plinth.record r WHERE r.row_no = i.row_no /* of few entries */'
