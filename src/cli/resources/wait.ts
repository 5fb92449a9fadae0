import type { Row } from '../command/command.ts'
import { query, queryJson } from '../command/options.ts'
import { showRecords } from '../command/show-records.ts'

/** Command `plinth wait <type>`. */
export const wait: Row = {
  name: 'wait',
  summary: 'Wait for a matching record',
  method: 'GET',
  path: '/:base_id/wait/:record_type',
  options: [
    queryJson('--filter <json>', 'filter', '{"field":"data.status","op":"eq","value":"open"}'),
    query('--sort <fields>', 'sort', 'such as -data.amount,created_at'),
    query('--fields <names>', 'fields', 'fields to show, such as id,data.name'),
    query('--limit <count>', 'limit', 'maximum number of records, 1 to 1000'),
    query('--timeout <seconds>', 'timeout', 'seconds to wait, 0 to 60 (default: 30)'),
  ],
  patienceMs: 70_000,
  show: ({ body }, asked) => showRecords((body as { data: Record<string, unknown>[] }).data, asked),
}
