/** Command that lists deleted records. */
import type { Noun } from '../command/command.ts'
import { paging, query } from '../command/options.ts'

export const trash: Noun = {
  name: 'trash',
  summary: 'Deleted records that can be restored',
  columns: ['record_type', 'id', 'version', 'external_id', 'deleted_at', 'expires_at', 'data'],
  rows: [
    {
      name: 'list',
      summary: 'List deleted records that can be restored, most recently deleted first',
      method: 'GET',
      path: '/:base_id/trash',
      options: [query('--type <id>', 'record_type', 'only records of this type'), ...paging],
    },
  ],
}
