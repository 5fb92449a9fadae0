/** Commands of bases. */
import type { Noun } from '../command/command.ts'
import { commandOf } from '../command/operations.ts'
import { textFile } from '../command/options.ts'

const says = { include: '<counts> counts: the numbers of record types and records (with --json)' }

export const base: Noun = {
  name: 'base',
  summary: 'Bases: the separate databases of an installation',
  columns: ['id', 'name', 'environment', 'version', 'updated_at', 'description'],
  rows: [
    commandOf('bases.list', 'list', { says }),
    commandOf('bases.get', 'get', { says }),
    commandOf('bases.upsert', 'put', {
      summary:
        'Create a base, or replace its name, description and settings: what is left out has its default',
      says: {
        description: textFile('--description <text>', 'description', 'description (default: none)'),
        settings: 'all of its settings (default: those of a new base)',
      },
    }),
    commandOf('bases.delete', 'delete'),
  ],
}
