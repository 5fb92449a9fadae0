/** Commands of the vault. */
import type { Noun } from '../command/command.ts'
import { commandOf } from '../command/operations.ts'
import { secret } from '../command/options.ts'

export const vault: Noun = {
  name: 'vault',
  summary: 'Vault: secrets that requests of the server send, and its master key',
  columns: ['name', 'bases', 'version', 'updated_at', 'description'],
  rows: [
    commandOf('secrets.list', 'list'),
    commandOf('secrets.get', 'get'),
    commandOf('secrets.upsert', 'put', {
      says: {
        value: secret('--value <source>', 'value', 'the value'),
        bases: '<bases> ids of bases, * for all production bases, <base>--* for previews',
      },
    }),
    commandOf('secrets.delete', 'delete'),
    commandOf('vault.rotate', 'rotate'),
  ],
}
