import { SeedBody } from '../../../contract/seed-shapes.ts'
import type { Seed as Row } from '../../prisma/client.ts'
import type { FieldsOf, Kind } from '../lifecycle/kind.ts'
import { rowFaults } from './row-faults.ts'
import { typesNamed } from './types-named.ts'

type Fields = FieldsOf<typeof SeedBody>

/** Seeds: records and relationships that a preview can be filled with, and returned to. */
export const SEED: Kind<Fields, Row> = {
  name: 'seed',
  label: 'a seed',
  codes: { notFound: 'seed_not_found' },
  body: SeedBody,
  isPreviewOnly: true,
  defaults: (id) => ({ name: id, description: null, records: [], relationships: [] }),
  table: ({ orm }) => orm.seed,
  references: typesNamed,
  check: async (loaded, { next }) => ({ faults: await rowFaults(loaded, next) }),
}
