/** Zod shapes of seeds, shared by all layers. */
import { z } from 'zod'
import { LIMITS } from '../foundation/limits.ts'
import { DataObject } from './batch-shapes.ts'
import { Description, Name } from './shapes.ts'

const most = (what: string) => `A seed can have at most ${LIMITS.seedRows} ${what}.`

const SeedRecord = z
  .strictObject({
    record_type: z.string(),
    external_id: z.string().meta({ description: 'Unique among the records of its type in the seed.' }),
    data: DataObject,
  })
  .meta({ id: 'SeedRecord' })
export type SeedRecord = z.output<typeof SeedRecord>

const SeedEnd = z
  .strictObject({ record_type: z.string(), external_id: z.string() })
  .meta({ id: 'SeedEnd', description: 'A record of the same seed.' })

const SeedRelationship = z
  .strictObject({
    rel_type: z.string(),
    source: SeedEnd,
    target: SeedEnd,
    data: DataObject.optional(),
  })
  .meta({ id: 'SeedRelationship' })
export type SeedRelationship = z.output<typeof SeedRelationship>

/** The body of a seed on every surface. */
export const SeedBody = z.strictObject({
  name: Name.optional().meta({ description: 'Defaults to the id.' }),
  description: Description.optional(),
  records: z
    .array(SeedRecord)
    .max(LIMITS.seedRows, most('records'))
    .optional()
    .meta({ description: 'Defaults to none. They are written with the external_source `seed:<id>`.' }),
  relationships: z
    .array(SeedRelationship)
    .max(LIMITS.seedRows, most('relationships'))
    .optional()
    .meta({ description: 'Defaults to none. Both ends are records of the seed.' }),
})
