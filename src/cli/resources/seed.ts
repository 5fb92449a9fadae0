/** Commands of seeds. */
import type { Row } from '../command/command.ts'
import { configuration } from '../command/configuration.ts'
import { commandOf } from '../command/operations.ts'
import { printLine } from '../command/print.ts'

const run = (name: string, summary: string): Row =>
  commandOf(`seeds.${name}`, name, {
    summary,
    path: `/:base_id/seeds/:id/${name}`,
    show: ({ body }) => {
      const { records, relationships, dry_run: isDry } = body as SeedRun
      printLine(`records: ${countsIn(records)}`)
      printLine(`relationships: ${countsIn(relationships)}`)
      if (isDry) printLine('A dry run: nothing was changed.')
    },
  })

type Counts = Readonly<Record<string, number>>
type SeedRun = { records: Counts; relationships: Counts; dry_run?: true }

const countsIn = (counts: Counts): string =>
  Object.entries(counts)
    .flatMap(([what, count]) => (count > 0 ? [`${count} ${what}`] : []))
    .join(', ') || 'none'

export const seed = configuration('seeds', {
  summary: 'Seeds: records and relationships for previews',
  columns: ['id', 'name', 'version'],
  says: {
    records: 'a list of { record_type, external_id, data }',
    relationships: 'a list of { rel_type, source, target, data }',
  },
  more: [
    run('apply', 'Write the rows of a seed in a preview'),
    run('reset', 'Bring the rows of a seed to what it declares'),
    run('clear', 'Delete the rows that a seed owns'),
  ],
})
