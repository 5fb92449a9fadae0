import { commandOf } from '../command/operations.ts'
import { showRecordPage } from '../command/show-records.ts'

/** What the options of a list of records say. */
export const listed = {
  expand: '<types> relationship types to expand, such as owner.company; or attachments',
  include: '<part> claim: also show the active claim',
  snippets: 'show what a search of the filter found',
  external_source: '<name> read from this external source of the type',
}

/** Command `plinth query <type>`. */
export const query = commandOf('records.list', 'query', {
  summary: 'Query the records of a type',
  says: listed,
  show: showRecordPage,
})
