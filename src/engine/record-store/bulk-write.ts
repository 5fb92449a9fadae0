import { DomainError } from '../../foundation/errors.ts'
import type { Authorship } from '../change-log/entry.ts'
import type { CompiledType } from '../compiled-types/compiled-type.ts'
import type { Db } from '../database/client.ts'
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

type Results<Row> = (Row | undefined | Error)[]

/** Groups writes by base, type and author. Two writes of one record run in order. */
export async function writeAll<Row extends WrittenRow>(
  db: Db,
  how: WriteStatement,
  all: readonly PlainWrite[],
): Promise<Results<Row>> {
  const results: Results<Row> = new Array(all.length).fill(undefined)
  const groups = new Map<string, number[]>()
  const later: number[] = []
  const seen = new Set<string>()
  for (const [index, { type, id, author }] of all.entries()) {
    const group = [type.baseId, type.id, type.revision, author[0], author[2]].join('\n')
    const record = `${type.baseId}\n${type.id}\n${id}`
    if (seen.has(record)) later.push(index)
    else groups.set(group, [...(groups.get(group) ?? []), index])
    seen.add(record)
  }
  await Promise.all([...groups.values()].map((group) => writeGroup(db, how, all, group, results)))
  for (const index of later)
    results[index] = await outcomeOf(() => writeOne(db, how, all[index] as PlainWrite))
  return results
}

/**
 * Writes a group. If it fails, retries its writes individually, so that one failure does not affect the
 * others.
 */
async function writeGroup<Row extends WrittenRow>(
  db: Db,
  how: WriteStatement,
  all: readonly PlainWrite[],
  group: readonly number[],
  results: Results<Row>,
) {
  const writes = group.map((index) => all[index] as PlainWrite)
  try {
    const rows = await writeMany<Row>(db, how, writes)
    const byId = new Map(rows.map((row) => [row.id, row]))
    for (const index of group) results[index] = byId.get((all[index] as PlainWrite).id)
  } catch (failure) {
    // After a lost connection the outcome is unknown, and a retry could write twice.
    const isFinal = group.length === 1 || failure instanceof DomainError
    for (const index of group)
      results[index] = isFinal
        ? (failure as Error)
        : await outcomeOf(() => writeOne(db, how, all[index] as PlainWrite))
  }
}

/** Runs a single write. */
export const writeOne = async <Row extends WrittenRow>(
  db: Db,
  how: WriteStatement,
  write: PlainWrite,
): Promise<Row | undefined> => (await writeMany<Row>(db, how, [write]))[0]

function writeMany<Row extends WrittenRow>(
  db: Db,
  how: WriteStatement,
  writes: readonly PlainWrite[],
): Promise<Row[]> {
  const [{ type, author }] = writes as [PlainWrite]
  return db.query<Row>(variantFor(how, type), [
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
}

async function outcomeOf<T>(work: () => Promise<T>): Promise<T | Error> {
  try {
    return await work()
  } catch (failure) {
    return failure as Error
  }
}
