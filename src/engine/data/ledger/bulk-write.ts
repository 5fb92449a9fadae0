/** Writes of records without preconditions, many in one statement. */
import type { Authorship } from '../../log/entry.ts'
import type { CompiledType } from '../../schema/compiled-types/compiled-type.ts'
import type { Statement } from '../../storage/database/client.ts'
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
 * `'own pairs'`: it finds the records by them, so they must differ. `unchanged` finds those that it leaves as they are.
 */
export const plainWrite = <Row extends WrittenRow>(
  how: WriteStatement,
  takes?: 'pairs' | 'own pairs',
  unchanged?: Statement,
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
      ...contentsOf(type, writes),
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
    const left = unchanged ? [...written.keys()].filter((place) => !written[place]) : []
    if (!unchanged || left.length === 0) return written
    const same = await db.query<Row & { n: number }>(
      unchanged,
      contentsOf(
        type,
        left.map((place) => writes[place] as PlainWrite),
      ),
    )
    for (const row of same) written[left[row.n - 1] as number] = row
    return written
  },
})

const contentsOf = (type: CompiledType, writes: readonly PlainWrite[]) => [
  type.baseId,
  type.id,
  type.revision,
  writes.map(({ id }) => id),
  `[${writes.map(({ text }) => text).join(',')}]`,
]
