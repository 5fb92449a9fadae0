import type { Db } from '../../database/client.ts'
import { type ResolvedIndex, syncIndexes } from '../../indexes/index.ts'
import type { RecordTypeIndex as IndexRow, RecordType as PlainRow, Prisma } from '../../prisma/client.ts'
import type { Table } from '../lifecycle/kind.ts'

/** A record type as it is stored, with its indexes in the order they were declared. */
export type TypeRow = PlainRow & { indexes: IndexRow[] }

const WITH_INDEXES = { indexes: { orderBy: { position: 'asc' } } } as const

/** What is written of a type: its columns, and its indexes as they are resolved. */
type Written<Columns> = { data: Columns & { indexes: ResolvedIndex[] } }
type Created = Written<Prisma.RecordTypeUncheckedCreateInput>
type Updated = Written<Prisma.RecordTypeUncheckedUpdateInput> & { where: Prisma.RecordTypeWhereUniqueInput }

/** The types of the database, each with its indexes: a table of their own. Those of a type that exists are synced before. */
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
