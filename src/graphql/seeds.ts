/** GraphQL type, queries and mutations of seeds. */
import { SEED } from '../engine/configuration/seeds/index.ts'
import * as seeds from '../engine/environments/seeds/index.ts'
import { builder } from './builder.ts'
import { targetArgs } from './common.ts'
import { configuration } from './configuration.ts'
import { mutation } from './mutation.ts'

configuration('Seed', SEED, {
  description: 'Records and relationships that a preview can be filled with, and returned to.',
  fields: (t) => ({
    name: t.exposeString('name'),
    description: t.exposeString('description', { nullable: true }),
    records: t.expose('records', {
      type: 'JSON',
      description: '`[{ record_type, external_id, data }]`: written with the external_source "seed:<id>".',
    }),
    relationships: t.expose('relationships', {
      type: 'JSON',
      description: '`[{ rel_type, source, target, data }]`: an end is `{ record_type, external_id }`.',
    }),
  }),
  inputs: (t) => ({
    name: t.string(),
    description: t.string(),
    records: t.field({ type: 'JSON' }),
    relationships: t.field({ type: 'JSON' }),
  }),
  list: 'The seeds of a base, newest first.',
  put: 'Creates a seed or replaces it whole. In previews only.',
  remove: 'Deletes a seed, and none of its rows. In previews only.',
})

const SeedRunType = builder.objectRef<seeds.SeedRun>('SeedRun').implement({
  description: 'What applying, resetting or clearing a seed has done.',
  fields: (t) => ({
    id: t.exposeString('id', { description: 'The seed.' }),
    records: t.expose('records', {
      type: 'JSON',
      description: '`{ created, updated, unchanged, deleted }`: numbers of records.',
    }),
    relationships: t.expose('relationships', { type: 'JSON', description: 'The same for relationships.' }),
  }),
})

const RUNS = {
  applySeed: [
    seeds.applySeed,
    'Upserts the rows of a seed in a preview. Rows that it no longer declares stay.',
  ],
  resetSeed: [
    seeds.resetSeed,
    'Brings the rows that a seed owns to what it declares: edited, cancelled and deleted ones back, others away.',
  ],
  clearSeed: [seeds.clearSeed, 'Deletes the rows that a seed owns, and nothing else.'],
} as const

for (const [name, [run, description]] of Object.entries(RUNS))
  mutation(name, {
    description,
    type: SeedRunType,
    args: targetArgs(),
    resolve: (scope, { base, id }) => run(scope, base, id),
  })
