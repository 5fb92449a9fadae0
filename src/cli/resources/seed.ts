/** Commands of seeds. */
import type { Row } from '../command/command.ts'
import { configuration } from '../command/configuration.ts'
import { description, json, name, writing } from '../command/options.ts'
import { printLine } from '../command/print.ts'

const run = (name: string, summary: string): Row => ({
  name,
  summary,
  method: 'POST',
  path: `/:base_id/seeds/:id/${name}`,
  options: writing,
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

export const seed = configuration('/:base_id/seeds', {
  summary: 'Seeds: records and relationships for previews',
  label: 'a seed',
  columns: ['id', 'name', 'version'],
  fields: [
    name,
    description,
    json('--records <json>', 'records', 'a list of { record_type, external_id, data }'),
    json('--relationships <json>', 'relationships', 'a list of { rel_type, source, target, data }'),
  ],
  removes: 'a seed, and none of its rows',
  more: [
    run('apply', 'Write the rows of a seed in a preview'),
    run('reset', 'Bring the rows of a seed to what it declares'),
    run('clear', 'Delete the rows that a seed owns'),
  ],
})
