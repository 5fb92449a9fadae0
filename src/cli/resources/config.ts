/** Commands of config files. */
import type { Noun } from '../command/command.ts'
import { EXIT } from '../command/failure.ts'
import { commandOf } from '../command/operations.ts'
import { print } from '../command/print.ts'
import { changesIn, showDone, showPlan } from '../command/show-changes.ts'

const prune = 'also delete what a list of the file does not have, with its data'

export const config: Noun = {
  name: 'config',
  summary: 'Config as code: the configuration of a base as one YAML file',
  columns: [],
  rows: [
    commandOf('config.get', 'pull', {
      summary: 'Print the configuration of a base as YAML; with --json as JSON',
      without: ['format'],
      show: async ({ body }, { url }) => {
        const { stringify } = await import('yaml')
        print(
          `# yaml-language-server: $schema=${url}/config.schema.json\n${stringify(body, { lineWidth: 0 })}`,
        )
      },
    }),
    commandOf('config.diff', 'diff', {
      summary: 'Show what a file would change. Exit code 0: nothing, 2: changes, 1: refused, 64: wrong usage',
      file: true,
      says: { prune },
      show: showPlan,
      exitCode: (answer) => (changesIn(answer).length > 0 ? EXIT.pending : EXIT.ok),
    }),
    commandOf('config.apply', 'push', {
      summary: 'Apply a file to a preview, in one transaction',
      file: true,
      says: {
        prune,
        'if-match': {
          flags: '--if-match <hash>',
          about: 'write only if the configuration has this hash',
          to: { header: 'if-match' },
          read: (hash) => (hash.startsWith('"') ? hash : `"${hash}"`),
        },
      },
      show: showDone,
    }),
  ],
}
