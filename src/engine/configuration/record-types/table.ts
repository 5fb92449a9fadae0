import type { RecordTypeIndex as IndexRow, RecordType as PlainRow } from '../../prisma/client.ts'
import type { Db } from '../../storage/database/client.ts'
import type { Table } from '../lifecycle/kind.ts'

/** A stored record type, with its indexes in declaration order. */
export type TypeRow = PlainRow & { indexes: IndexRow[] }

const WITH_INDEXES = { indexes: { orderBy: { position: 'asc' } } } as const

/** Storage of record types. Indexes have their own table. */
export const recordTypeTable = (db: Db): Table<TypeRow> => {
  const { recordType } = db.orm
  return {
    findMany: (query) => recordType.findMany({ ...query, include: WITH_INDEXES }),
    count: (query) => recordType.count(query),
    deleteMany: (query) => recordType.deleteMany(query),
  }
}

/** Reads the indexes of types, in declaration order. */
export const indexesOf = (db: Db, baseId: string, ids: string[]): Promise<IndexRow[]> =>
  db.orm.recordTypeIndex.findMany({
    where: { baseId, recordType: { in: ids } },
    orderBy: WITH_INDEXES.indexes.orderBy,
  })
