import type { Row } from '../command/command.ts'
import { json, writing } from '../command/options.ts'
import { note, showRows } from '../command/print.ts'

type Done = { data: Record<string, unknown>[]; meta: { count: number } }

/** Command `plinth batch --operations @file`. */
export const batch: Row = {
  name: 'batch',
  summary: 'Run up to 1,000 operations in one transaction',
  method: 'POST',
  path: '/:base_id/batch',
  options: [
    {
      ...json('--operations <json>', 'operations', 'a list of {"type":"upsert_record","record_type":…}'),
      required: true,
    },
    ...writing,
  ],
  show: ({ body }) => {
    const { data, meta } = body as Done
    showRows(data, ['index', 'type', 'operation', 'id', 'version'])
    note(`${meta.count} done\n`)
  },
}
