import type { Row } from '../command/command.ts'
import { paging, query as parameter, queryJson, snippets } from '../command/options.ts'
import { showRecordPage } from '../command/show-records.ts'

/** Command `plinth query <type>`. */
export const query: Row = {
  name: 'query',
  summary: 'Query the records of a type',
  method: 'GET',
  path: '/:base_id/records/:record_type',
  options: [
    queryJson('--filter <json>', 'filter', '{"field":"data.status","op":"eq","value":"open"}'),
    parameter('--sort <fields>', 'sort', 'such as -data.amount,created_at'),
    parameter('--fields <names>', 'fields', 'fields to show, such as id,data.name'),
    parameter('--expand <types>', 'expand', 'relationship types to expand, such as owner.company'),
    parameter('--include <part>', 'include', 'claim: also show the active claim of each record'),
    snippets,
    parameter('--as-of <time>', 'as_of', 'state at this time, such as 2026-01-31T09:30:00Z'),
    parameter('--external-source <name>', 'external_source', 'read from this external source of the type'),
    ...paging,
  ],
  show: showRecordPage,
}
