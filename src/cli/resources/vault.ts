/** Commands of the vault. */
import type { Noun } from '../command/command.ts'
import { misused } from '../command/failure.ts'
import {
  createOnly,
  cursor,
  description,
  ifMatch,
  list,
  type Option,
  paging,
  sourceOf,
  writing,
} from '../command/options.ts'

const PATH = '/vault/secrets'

/** A value is never an argument, because other users of the machine see those. A line end of the file is not part of it. */
const value: Option = {
  flags: '--value <source>',
  about: 'where the value is read from: @file, or - for standard input; the last line end is dropped',
  to: { body: 'value' },
  read: async (written, flag) => {
    if (written !== '-' && !written.startsWith('@'))
      throw misused(
        `${flag}: other users can see arguments. Pass the value as @file, or - for standard input.`,
      )
    return (await sourceOf(written, flag)).toString().replace(/\r?\n$/, '')
  },
}

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
      options: [cursor, ...paging],
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
        value,
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
