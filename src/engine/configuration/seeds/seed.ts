import { SeedBody } from '../../../contract/seed-shapes.ts'
import type { Seed as Row } from '../../prisma/client.ts'
import type { FieldsOf, Kind } from '../lifecycle/kind.ts'
import { RECORD_TYPE_NAMES } from '../record-types/not-found.ts'
import { RELATIONSHIP_TYPE } from '../relationship-types/index.ts'
import { rowFaults, type SeedRows } from './row-faults.ts'

/** The types that rows of a seed name, each at the first of them. */
function typesNamed({ records, relationships }: SeedRows) {
  const named = [
    ...records.map(({ record_type: id }, n) => ({
      kind: RECORD_TYPE_NAMES,
      id,
      at: `/records/${n}/record_type`,
    })),
    ...relationships.map(({ rel_type: id }, n) => ({
      ...{ kind: RELATIONSHIP_TYPE, id, at: `/relationships/${n}/rel_type` },
    })),
  ]
  return [...Map.groupBy(named, ({ kind, id }) => `${kind.name} ${id}`).values()].flatMap(
    ([first]) => first ?? [],
  )
}

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
