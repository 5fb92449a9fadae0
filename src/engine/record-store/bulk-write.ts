/** Writes of records without preconditions, many in one statement. */
import type { Authorship } from '../change-log/entry.ts'
import type { CompiledType } from '../compiled-types/compiled-type.ts'
import type { SharedWrite } from '../database/write-together.ts'
import { variantFor, type WriteStatement } from '../indexes/index.ts'
import type { WrittenRow } from './put.ts'
import type { Pair } from './record.ts'

export type RecordKey = { baseId: string; recordType: string; id: string }
/** Write of one record without preconditions, validated against `type`. */
export type PlainWrite = {
  type: CompiledType
  id: string
  /** The server made the id for this write. */
  isNewId: boolean
  pair: Pair | null
  text: string
  author: Authorship
}

/**
 * The write of records by a statement. Groups by base, type and author. `isByPair`: it finds records by their pairs, which
 * then must differ, and not by their ids.
 */
export const plainWrite = <Row extends WrittenRow>(
  how: WriteStatement,
  isByPair = false,
): SharedWrite<PlainWrite, Row> => ({
  groupOf: ({ type, author }) => [type.baseId, type.id, type.revision, author[0], author[2]].join('\n'),
  targetOf: ({ type, id, pair }) =>
    `${type.baseId}\n${type.id}\n${isByPair && pair ? JSON.stringify([pair.externalSource, pair.externalId]) : id}`,
  async run(db, writes) {
    const [{ type, author }] = writes as [PlainWrite]
    const ifAny = <T>(values: (T | null)[]) => (values.some((value) => value !== null) ? values : null)
    const rows = await db.query<Row & { n: number }>(variantFor(how, type), [
      type.baseId,
      type.id,
      type.revision,
      writes.map(({ id }) => id),
      `[${writes.map(({ text }) => text).join(',')}]`,
      writes.map((write) => write.author[3]),
      author[0],
      author[1],
      author[2],
      ifAny(writes.map((write) => write.author[4])),
      ifAny(writes.map(({ pair }) => pair?.externalSource ?? null)),
      ifAny(writes.map(({ pair }) => pair?.externalId ?? null)),
      ifAny(writes.map(({ isNewId }) => isNewId || null)),
    ])
    const written: (Row | undefined)[] = new Array(writes.length).fill(undefined)
    for (const row of rows) written[row.n - 1] = row
    return written
  },
})
