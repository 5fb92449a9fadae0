/** Writes of records without preconditions, many in one statement. */
import type { Authorship } from '../../log/entry.ts'
import type { CompiledType } from '../../schema/compiled-types/compiled-type.ts'
import type { SharedWrite } from '../../storage/database/write-together.ts'
import { variantOf, type WriteStatement } from '../indexes/index.ts'
import type { WrittenRow } from './put.ts'
import type { Pair } from './record.ts'

export type RecordKey = { baseId: string; recordType: string; id: string }
/** Write of one record without preconditions, validated against `type`. */
export type PlainWrite = {
  type: CompiledType
  id: string
  pair: Pair | null
  data: unknown
  /** `data` as JSON. */
  text: string
  author: Authorship
}

/**
 * The write of records by a statement. Groups by base, type and author. `takes: 'pairs'`: the statement takes pairs;
 * `'own pairs'`: it finds the records by them, so they must differ.
 */
export const plainWrite = <Row extends WrittenRow>(
  how: WriteStatement,
  takes?: 'pairs' | 'own pairs',
): SharedWrite<PlainWrite, Row> => ({
  groupOf: ({ type, author }) => [type.baseId, type.id, type.revision, author[0], author[2]].join('\n'),
  targetOf: ({ type, id, pair }) =>
    `${type.baseId}\n${type.id}\n${takes === 'own pairs' && pair ? JSON.stringify([pair.externalSource, pair.externalId]) : id}`,
  async run(db, writes) {
    const [{ type, author }] = writes as [PlainWrite]
    // For one alone, the statement under preconditions costs less.
    if (takes === 'own pairs' && writes.length === 1) return [undefined]
    const pairs = writes.map(({ pair }) => pair)
    const [variant, keys] = variantOf(how, type, writes)
    const rows = await db.query<Row & { n: number }>(variant, [
      type.baseId,
      type.id,
      type.revision,
      writes.map(({ id }) => id),
      `[${writes.map(({ text }) => text).join(',')}]`,
      writes.map((write) => write.author[3]),
      author[0],
      author[1],
      author[2],
      writes.some((write) => write.author[4] !== null) ? writes.map((write) => write.author[4]) : null,
      ...(takes ? [pairs.map((pair) => pair?.externalSource), pairs.map((pair) => pair?.externalId)] : []),
      ...keys,
    ])
    const written: (Row | undefined)[] = new Array(writes.length).fill(undefined)
    for (const row of rows) written[row.n - 1] = row
    return written
  },
})
