/** REST routes of seeds. */
import { z } from 'zod'
import { SeedBody } from '../contract/seed-shapes.ts'
import { graphql, type TadaDocumentNode } from '../graphql/document.ts'
import { answerOf, crud } from './route/crud.ts'
import { type Row, route, tagged } from './route/route.ts'
import { baseId, configurationId, onBase } from './route/shapes.ts'

const kind = crud('/:base_id/seeds', {
  tag: 'Seeds',
  label: 'A seed',
  body: SeedBody,
  answers: answerOf('Seed', SeedBody),
  removes: 'a seed, and none of its rows',
})

const SeedRunFields = graphql(
  'fragment SeedRunFields on SeedRun { id records relationships dry_run: dryRun }',
)
const counts = z.object({ created: z.int(), updated: z.int(), unchanged: z.int(), deleted: z.int() })
const SeedRun = z
  .object({
    id: z.string().meta({ description: 'The seed.' }),
    records: counts,
    relationships: counts,
    dry_run: z.literal(true).optional(),
  })
  .meta({ id: 'SeedRun' })

type Ran = { id: string; records: unknown; relationships: unknown; dry_run: boolean | null }

/** A route that runs a seed, which the path names by its id. */
const run = (
  path: string,
  summary: string,
  operation: TadaDocumentNode<{ done: Ran }, { base: string; id: string }>,
): Row =>
  route(`POST /:base_id/seeds/:name/${path}`, {
    summary,
    need: onBase('manage'),
    params: z.strictObject({
      base_id: baseId(),
      name: configurationId('A seed', 'The id of a seed.'),
    }),
    body: z.strictObject({}).optional(),
    operation,
    variables: ({ params }) => ({ base: params.base_id, id: params.name }),
    answers: SeedRun,
  })

export const seeds = tagged('Seeds', [
  ...kind,
  run(
    'apply',
    'Upsert the rows of a seed, in a preview',
    graphql(
      'mutation ApplySeed($base: String!, $id: String!) { done: applySeed(base: $base, id: $id) { ...SeedRunFields } }',
      [SeedRunFields],
    ),
  ),
  run(
    'reset',
    'Bring the rows that a seed owns to what it declares, in a preview',
    graphql(
      'mutation ResetSeed($base: String!, $id: String!) { done: resetSeed(base: $base, id: $id) { ...SeedRunFields } }',
      [SeedRunFields],
    ),
  ),
  run(
    'clear',
    'Delete the rows that a seed owns, in a preview',
    graphql(
      'mutation ClearSeed($base: String!, $id: String!) { done: clearSeed(base: $base, id: $id) { ...SeedRunFields } }',
      [SeedRunFields],
    ),
  ),
])
