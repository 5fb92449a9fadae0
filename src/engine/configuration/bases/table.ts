import type { Base as PlainRow, Prisma } from '../../prisma/client.ts'
import { type Db, statement } from '../../storage/database/client.ts'
import type { Table } from '../lifecycle/kind.ts'

/** The key of the advisory lock on a base id, against concurrent creation, change and deletion. */
export const baseLock = (place: string): string => `hashtextextended('base:' || ${place}, 0)`
export const LOCK_BASE_ID = statement('lock_base_id', `SELECT pg_advisory_xact_lock(${baseLock('$1')})::text`)

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
    createOne: async ({ data: { baseId: _, ...data } }: Created) =>
      toRow(await base.create({ data: { ...data, firstVersion: data.version ?? 1 } })),
    updateOne: async ({ where, data }: Updated) =>
      toRow(await base.update({ where: { id: where.baseId_id.id }, data })),
    deleteMany: ({ where }) => deleteWithPreviews(db, where.baseId),
  }
}

async function idsWithPreviews({ orm }: Db, id: string): Promise<string[]> {
  const where = { OR: [{ id }, { productionBase: id }] }
  return (await orm.base.findMany({ where, select: { id: true } })).map((row) => row.id)
}

// After the rows, whose deletion waits for writers.
const CLEAR_LOGS = [
  statement('clear_base_logs', 'DELETE FROM plinth.change WHERE base_id = ANY ($1::text[])'),
  statement('clear_base_calls', 'DELETE FROM plinth.call WHERE base_id = ANY ($1::text[])'),
  statement('clear_base_usage', 'DELETE FROM plinth.usage WHERE base_id = ANY ($1::text[])'),
]

/** Deletes a base, its previews, and their logs. */
async function deleteWithPreviews(db: Db, id: string): Promise<void> {
  const gone = await idsWithPreviews(db, id)
  await db.orm.base.deleteMany({ where: { id: { in: gone } } })
  for (const clear of CLEAR_LOGS) await db.query(clear, [gone])
}

const HIGHEST = statement(
  'highest_version',
  'SELECT max(version) AS version FROM plinth.change WHERE base_id = $1',
)

/** The highest version that anything in the base or in its previews has had. */
export async function highestVersion(db: Db, id: string): Promise<number> {
  let highest = 1
  // One by one: of known bases, a planner knows how much log they have.
  for (const base of await idsWithPreviews(db, id)) {
    const [row] = await db.query<{ version: number | null }>(HIGHEST, [base])
    highest = Math.max(highest, row?.version ?? 1)
  }
  return highest
}

const byId = ({ baseId: _, ...where }: { baseId?: string }): Prisma.BaseWhereInput => where
