/** Commands of the vault. */
import type { Noun } from '../command/command.ts'
import { createOnly, description, ifMatch, list, paging, secret, writing } from '../command/options.ts'

const PATH = '/vault/secrets'

export const vault: Noun = {
  name: 'vault',
  summary: 'Vault: secrets that requests of the server send, and its master key',
  columns: ['name', 'bases', 'version', 'updated_at', 'description'],
  rows: [
    {
      name: 'list',
      summary: 'List secrets, without their values',
      method: 'GET',
      path: PATH,
      options: paging,
    },
    {
      name: 'get',
      summary: 'Show a secret, without its value',
      method: 'GET',
      path: `${PATH}/:name`,
      options: [],
    },
    {
      name: 'put',
      summary: 'Create a secret or change it; what is left out stays as it is',
      method: 'PUT',
      path: `${PATH}/:name`,
      options: [
        secret('--value <source>', 'value', 'the value'),
        list('--bases <bases>', 'bases', 'ids of bases, * for all production bases, <base>--* for previews'),
        description,
        ifMatch,
        createOnly,
        ...writing,
      ],
    },
    {
      name: 'delete',
      summary: 'Delete a secret',
      method: 'DELETE',
      path: `${PATH}/:name`,
      options: [ifMatch, ...writing],
    },
    {
      name: 'rotate',
      summary: 'Encrypt all secrets under the first master key of the server',
      method: 'POST',
      path: '/vault/rotate',
      options: writing,
    },
  ],
}
