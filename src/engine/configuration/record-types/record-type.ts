import { unknownName } from '../../../contract/suggest.ts'
import { DomainError } from '../../../foundation/errors.ts'
import { type ShownIndex, shownIndex } from '../../indexes/index.ts'
import type { RecordTypeIndex as IndexRow, RecordType as PlainRow } from '../../prisma/client.ts'
import type { Named } from '../lifecycle/kind.ts'

/** A record type as it is stored, with its indexes in the order they were declared. */
export type TypeRow = PlainRow & { indexes: IndexRow[] }

/** What the ORM is to read with a type. */
export const WITH_INDEXES = { indexes: { orderBy: { position: 'asc' } } } as const

/** Record types, as what names one of them knows them. */
export const RECORD_TYPE: Named = {
  name: 'record_type',
  label: 'a record type',
  codes: { notFound: 'record_type_not_found', unknown: 'unknown_record_type' },
}

/** A record type as every surface shows it. */
export type RecordType = {
  baseId: string
  id: string
  /** The id as it stands in tool names; given at creation, unique in the base. */
  portableId: string
  name: string
  description: string | null
  icon: string | null
  color: string | null
  jsonSchema: object
  indexes: ShownIndex[]
  timezone: string
  display: object
  version: number
  createdAt: string
  updatedAt: string
  operation?: 'created' | 'updated' | 'unchanged'
}

export const toRecordType = (row: TypeRow): RecordType => ({
  baseId: row.baseId,
  id: row.id,
  portableId: row.portableId,
  name: row.name,
  description: row.description,
  icon: row.icon,
  color: row.color,
  jsonSchema: row.jsonSchema as object,
  indexes: row.indexes.map(shownIndex),
  timezone: row.timezone,
  display: row.display as object,
  version: row.version,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
})

/** @param known ids of the types that the token may read, for the nearest of them */
export function typeNotFound(id: string, known: readonly string[] = []): DomainError {
  const about = known.length > 0 ? unknownName(id, known) : {}
  const meant = 'hint' in about ? ` Did you mean "${about.hint}"?` : ''
  return new DomainError('NOT_FOUND', `There is no record type "${id}".${meant}`, {
    details: [
      {
        path: '/record_type',
        code: 'record_type_not_found',
        message: 'List the record types of the base, or PUT this one first.',
        ...about,
      },
    ],
  })
}
