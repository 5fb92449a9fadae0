/** Command that lists deleted records. */
import type { Noun } from '../command/command.ts'
import { commandOf } from '../command/operations.ts'
import { show } from '../command/print.ts'
import { type Actor, actorCell } from '../command/show-changes.ts'

const COLUMNS = [
  ...['record_type', 'id', 'version', 'external_id', 'deleted_at', 'deleted_by', 'expires_at', 'data'],
]

export const trash: Noun = {
  name: 'trash',
  summary: 'Deleted records that can be restored',
  columns: COLUMNS,
  rows: [
    commandOf('trash.list', 'list', {
      says: { record_type: '--type <id> only records of this type' },
      show: (answer) => {
        const { data, ...rest } = answer.body as { data: { deleted_by: Actor }[] }
        const rows = data.map((each) => ({ ...each, deleted_by: actorCell(each.deleted_by) }))
        show({ ...answer, body: { ...rest, data: rows } }, COLUMNS)
      },
    }),
  ],
}
