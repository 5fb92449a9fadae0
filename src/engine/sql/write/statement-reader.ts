import { invalid } from '../../../foundation/errors.ts'
import type { SqlReader } from '../execution/connection-reader.ts'
import type { RawRows } from '../execution/read-rows.ts'
import type { Guarded, RenderOptions } from '../guard/guard-select.ts'
import type { PendingRows } from './pending-rows.ts'

type Sources = NonNullable<RenderOptions['sourceOf']>

/** Runs a guarded SELECT with the rows that the transaction has written. */
export type ReadRows = (guarded: Guarded, before?: Sources) => Promise<RawRows>

/** Opens the reader of one statement. */
export function openRows(reader: SqlReader, own: PendingRows, mostRows: number): ReadRows {
  return async (guarded, first) => {
    const sources = await own.sources(guarded.reads)
    const sourceOf: Sources = (relation, bind) => first?.(relation, bind) ?? sources(relation, bind)
    const { text, values, slots } = await guarded.render({ now: own.now, sourceOf })
    const found = await reader.read({ text, values, slots }, mostRows)
    if (found.cut === 'bytes') throw tooLarge()
    if (found.cut === undefined) return found
    const { rows } = await reader.read({ text: `SELECT count(*) FROM (${text}) AS n`, values, slots }, 1)
    throw tooMany(Number(rows[0]?.[0] ?? 0), mostRows)
  }
}

const tooMany = (count: number, most: number) =>
  invalid({
    path: '/query',
    code: 'too_many_rows',
    message: `The statement has ${count.toLocaleString('en')} rows, and at most ${most.toLocaleString('en')} are allowed. Narrow WHERE, for example by an id, and send it in parts.`,
    expected: most,
    received: count,
  })

const tooLarge = () =>
  invalid({
    path: '/query',
    code: 'too_large',
    message: 'The rows of the statement are too large for one answer. Name fewer columns, or fewer rows.',
  })
