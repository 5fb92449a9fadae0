import { resolvedIndex } from '../../data/indexes/index.ts'
import type { CompiledIndex, CompiledType } from '../../schema/compiled-types/compiled-type.ts'
import { titleProperty } from '../../schema/compiled-types/title-property.ts'
import type { Loaded } from '../lifecycle/kind.ts'
import { type Fields, schemaOf } from './fields.ts'
import { RECORD_TYPE } from './record-type.ts'
import type { TypeRow } from './table.ts'

/** A record type as the changes of a transaction or trial leave it. Caches have it as it was before. */
export async function typeIn(loaded: Loaded, id: string): Promise<CompiledType | undefined> {
  const row = (await loaded.rows(RECORD_TYPE, [id])).get(id)
  return row && compiled(row)
}

function compiled(row: TypeRow): CompiledType {
  const { baseId, id, version, revision, timezone } = row
  const jsonSchema = row.jsonSchema as object
  const schema = schemaOf({ jsonSchema })
  const sources = row.sources as Fields['sources']
  return {
    baseId,
    id,
    version,
    revision,
    timezone,
    jsonSchema,
    schema,
    title: titleProperty(jsonSchema, row.display),
    sources,
    indexes: row.indexes.map(indexOf),
  }
}

const indexOf = ({ id, kind, status, hasCut, fields }: TypeRow['indexes'][number]): CompiledIndex => ({
  id: String(id),
  status: status as CompiledIndex['status'],
  hasCut,
  ...resolvedIndex({ kind, fields }),
})
