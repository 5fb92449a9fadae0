import { commandOf } from '../command/operations.ts'
import { showRecords } from '../command/show-records.ts'

/** Command `plinth wait <type>`. */
export const wait = commandOf('records.wait', 'wait', {
  summary: 'Wait for a matching record',
  says: {
    limit: '<count> maximum number of records, 1 to 1000',
    timeout: '<seconds> seconds to wait, 0 to 60 (default: 30)',
  },
  patienceMs: 70_000,
  show: ({ body }, asked) => showRecords((body as { data: Record<string, unknown>[] }).data, asked),
})
