/** Commands of config files. */
import type { Noun } from '../command/command.ts'
import { EXIT } from '../command/failure.ts'
import { type Option, writing } from '../command/options.ts'
import { print } from '../command/print.ts'
import { changesIn, showDone, showPlan } from '../command/show-changes.ts'

const prune: Option = {
  flags: '--prune',
  about: 'also delete what a list of the file does not have, with its data',
  to: { query: 'prune' },
  value: 'true',
}

export const config: Noun = {
  name: 'config',
  summary: 'Config as code: the configuration of a base as one YAML file',
  columns: [],
  rows: [
    {
      name: 'pull',
      summary: 'Print the configuration of a base as YAML; with --json as JSON',
      method: 'GET',
      path: '/:base_id/config',
      options: [],
      show: async ({ body }, { url }) => {
        const { stringify } = await import('yaml')
        print(
          `# yaml-language-server: $schema=${url}/config.schema.json\n${stringify(body, { lineWidth: 0 })}`,
        )
      },
    },
    {
      name: 'diff',
      summary: 'Show what a file would change. Exit code 0: nothing, 2: changes, 1: refused, 64: wrong usage',
      method: 'POST',
      path: '/:base_id/config/diff',
      file: true,
      options: [prune],
      show: showPlan,
      exitCode: (answer) => (changesIn(answer).length > 0 ? EXIT.pending : EXIT.ok),
    },
    {
      name: 'push',
      summary: 'Apply a file to a preview, in one transaction',
      method: 'PUT',
      path: '/:base_id/config',
      file: true,
      options: [
        prune,
        {
          flags: '--if-match <hash>',
          about: 'write only if the configuration has this hash',
          to: { header: 'if-match' },
          read: (hash) => (hash.startsWith('"') ? hash : `"${hash}"`),
        },
        ...writing,
      ],
      show: showDone,
    },
  ],
}
