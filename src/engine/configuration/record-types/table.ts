import type { Db } from '../../database/client.ts'
import { type ResolvedIndex, syncIndexes } from '../../indexes/index.ts'
import type { RecordTypeIndex as IndexRow, RecordType as PlainRow, Prisma } from '../../prisma/client.ts'
import type { Table } from '../lifecycle/kind.ts'

/** A stored record type, with its indexes in declaration order. */
export type TypeRow = PlainRow & { indexes: IndexRow[] }

const WITH_INDEXES = { indexes: { orderBy: { position: 'asc' } } } as const

/** Columns of a type to write, and its resolved indexes. */
type Written<Columns> = { data: Columns & { indexes: ResolvedIndex[] } }
type Created = Written<Prisma.RecordTypeUncheckedCreateInput>
type Updated = Written<Prisma.RecordTypeUncheckedUpdateInput> & { where: Prisma.RecordTypeWhereUniqueInput }

/**
 * Storage of record types. Indexes have their own table; those of an existing type are synced separately,
 * before the row is written.
 */
export const recordTypeTable = (db: Db): Table<TypeRow> => {
  const { recordType, recordTypeIndex } = db.orm
  const indexesOf = ({ baseId, id }: PlainRow) =>
    recordTypeIndex.findMany({ where: { baseId, recordType: id }, orderBy: WITH_INDEXES.indexes.orderBy })
  return {
    findMany: (query) => recordType.findMany({ ...query, include: WITH_INDEXES }),
    count: (query) => recordType.count(query),
    create: async (query: Created) => {
      const { indexes, ...data } = query.data
      const row = await recordType.create({ data })
      await syncIndexes(db, row, [], indexes)
      return { ...row, indexes: indexes.length > 0 ? await indexesOf(row) : [] }
    },
    update: async ({ where, data: { indexes, ...data } }: Updated) => {
      const row = await recordType.update({ where, data })
      return { ...row, indexes: indexes.length > 0 ? await indexesOf(row) : [] }
    },
    delete: (query: { where: Prisma.RecordTypeWhereUniqueInput }) => recordType.delete(query),
  }
}
