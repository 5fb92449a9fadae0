import { RECORD_TYPE_NAMES } from '../record-types/not-found.ts'
import { RELATIONSHIP_TYPE } from '../relationship-types/index.ts'
import type { SeedRows } from './row-faults.ts'

/** The types that rows of a seed name, each at the first of them. */
export function typesNamed({ records, relationships }: SeedRows) {
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
