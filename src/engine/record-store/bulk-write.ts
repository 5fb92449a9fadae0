/** Plain writes of records, many in one statement. */
import type { Authorship } from '../change-log/entry.ts'
import type { CompiledType } from '../compiled-types/compiled-type.ts'
import type { SharedWrite } from '../database/write-together.ts'
import { variantFor, type WriteStatement } from '../indexes/index.ts'
import type { WrittenRow } from './put-statements.ts'

export type RecordKey = { baseId: string; recordType: string; id: string }
/** Unconditional write of one record: validated against `type`, keeps the pair. */
export type PlainWrite = {
  type: CompiledType
  id: string
  text: string
  author: Authorship
}

/** The write of records by a statement. Groups by base, type and author. */
export const plainWrite = <Row extends WrittenRow>(how: WriteStatement): SharedWrite<PlainWrite, Row> => ({
  groupOf: ({ type, author }) => [type.baseId, type.id, type.revision, author[0], author[2]].join('\n'),
  targetOf: ({ type, id }) => `${type.baseId}\n${type.id}\n${id}`,
  async run(db, writes) {
    const [{ type, author }] = writes as [PlainWrite]
    const rows = await db.query<Row>(variantFor(how, type), [
      type.baseId,
      type.id,
      type.revision,
      writes.map(({ id }) => id),
      writes.map(({ text }) => text),
      writes.map((write) => write.author[3]),
      author[0],
      author[1],
      author[2],
      writes.some((write) => write.author[4] !== null) ? writes.map((write) => write.author[4]) : null,
    ])
    const byId = new Map(rows.map((row) => [row.id, row]))
    return writes.map(({ id }) => byId.get(id))
  },
})
