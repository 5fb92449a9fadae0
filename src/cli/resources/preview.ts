/** Commands of previews. */
import type { Noun } from '../command/command.ts'
import { misused } from '../command/failure.ts'
import { confirm, description, ifMatch, paging, text, writing } from '../command/options.ts'

/** A production base has the same path, and is not deleted as a preview. */
function checkId(id: string): void {
  if (!id.includes('--'))
    throw misused(`"${id}" is no preview. Give the whole id, <base>--<name>, such as crm--dev.`)
}

export const preview: Noun = {
  name: 'preview',
  summary: 'Previews: copies of a base to try changes in',
  columns: ['id', 'version', 'created_at', 'description'],
  rows: [
    {
      name: 'list',
      summary: 'List the previews of a base',
      method: 'GET',
      path: '/:base_id/previews',
      options: paging,
    },
    {
      name: 'get',
      summary: 'Show a preview, by its whole id',
      method: 'GET',
      path: '/bases/:id',
      checkId,
      options: [],
    },
    {
      name: 'create',
      summary: 'Create a preview of a base: <base>--<name>',
      method: 'POST',
      path: '/:base_id/preview',
      argument: 'name',
      options: [
        text('--copy <what>', 'copy', 'config (default), or config_and_sample: also some records'),
        description,
        ...writing,
      ],
    },
    {
      name: 'delete',
      summary: 'Delete a preview, by its whole id, and everything in it',
      method: 'DELETE',
      path: '/bases/:id',
      checkId,
      options: [confirm, ifMatch, ...writing],
    },
  ],
}
