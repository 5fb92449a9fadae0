import type { Row } from '../command/command.ts'
import { flag, json, planToken, writing } from '../command/options.ts'
import { note, showRows } from '../command/print.ts'
import { isPlanned, notePlan, type Planned } from '../command/show-plan.ts'

type Done = { data: Record<string, unknown>[]; meta: { count: number } }

/** Command `plinth batch --operations @file`. */
export const batch: Row = {
  name: 'batch',
  summary: 'Run up to 1,000 operations in one transaction',
  method: 'POST',
  path: '/:base_id/batch',
  needsBody: true,
  options: [
    json('--operations <json>', 'operations', 'a list of {"type":"upsert_record","record_type":…}'),
    flag('--ask-first', 'ask_first', 'only plan the batch if it deletes more than one resource', true),
    planToken,
    ...writing,
  ],
  show: ({ body }) => {
    const done = body as Done | Planned
    if (isPlanned(done)) return notePlan(done)
    const { data, meta } = done
    showRows(data, ['index', 'type', 'operation', 'id', 'version'])
    note(`${meta.count} done\n`)
  },
}
