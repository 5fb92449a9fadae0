import { type Db, statement } from '../../database/client.ts'
import type { Base as PlainRow, Prisma } from '../../prisma/client.ts'
import type { Table } from '../lifecycle/kind.ts'

// Advisory lock on a base id, against concurrent creation, change and deletion.
export const LOCK_BASE_ID = statement(
  'lock_base_id',
  `SELECT pg_advisory_xact_lock(hashtextextended('base:' || $1, 0))::text`,
)

/** A stored base. It belongs to itself: its configuration, its log and the grants on it have its id. */
export type BaseRow = PlainRow & { readonly baseId: string }

type Key = { where: { baseId_id: { id: string } } }
type Created = { data: Prisma.BaseUncheckedCreateInput & { baseId: string } }
type Updated = Key & { data: Prisma.BaseUncheckedUpdateInput }

export const toRow = (row: PlainRow): BaseRow => ({ ...row, baseId: row.id })

/** Storage of bases, by their id alone. */
export const baseTable = (db: Db): Required<Table<BaseRow>> => {
  const { base } = db.orm
  return {
    findMany: async ({ where, ...query }) =>
      (await base.findMany({ ...query, where: byId(where) })).map(toRow),
    count: ({ where }) => base.count({ where: byId(where) }),
    create: async ({ data: { baseId: _, ...data } }: Created) => toRow(await base.create({ data })),
    update: async ({ where, data }: Updated) =>
      toRow(await base.update({ where: { id: where.baseId_id.id }, data })),
    delete: ({ where }: Key) => deleteRow(db, where.baseId_id.id),
  }
}

// After the row, whose deletion waits for writers.
const CLEAR_LOG = statement('clear_base_log', 'DELETE FROM plinth.change WHERE base_id = $1')

/** Deletes a base and its log. */
export async function deleteRow(db: Db, id: string): Promise<void> {
  await db.orm.base.delete({ where: { id } })
  await db.query(CLEAR_LOG, [id])
}

const byId = ({ baseId: _, ...where }: { baseId?: string }): Prisma.BaseWhereInput => where
