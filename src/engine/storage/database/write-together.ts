/** Writes of concurrent requests that share a statement. */
import { DomainError } from '../../../foundation/errors.ts'
import type { Db } from './client.ts'

/** A write that can share a statement with others. */
export type SharedWrite<Write, Row> = {
  /** What the writes of one statement have in common. */
  groupOf(write: Write): string
  /** What the write writes. Two writes of one thing run in order. */
  targetOf(write: Write): string
  /** Its requests take so long to read that few arrive in one turn of the event loop: collect those of two. */
  readonly isSlowToArrive?: true
  /** Runs a statement for all writes of a group: their rows, undefined for those that it did not write. */
  run(db: Db, writes: readonly Write[]): Promise<readonly (Row | undefined)[]>
}

type Results<Row> = (Row | undefined | Error)[]

/** Runs writes of concurrent requests, those of a group in one statement. */
export async function writeTogether<Write, Row>(
  db: Db,
  how: SharedWrite<Write, Row>,
  all: readonly Write[],
): Promise<Results<Row>> {
  const results: Results<Row> = new Array(all.length).fill(undefined)
  const groups = new Map<string, number[]>()
  const later: number[] = []
  const seen = new Set<string>()
  for (const [index, write] of all.entries()) {
    const group = how.groupOf(write)
    const target = how.targetOf(write)
    if (seen.has(target)) later.push(index)
    else groups.set(group, [...(groups.get(group) ?? []), index])
    seen.add(target)
  }
  await Promise.all([...groups.values()].map((group) => writeGroup(db, how, all, group, results)))
  for (const index of later) results[index] = await outcomeOf(() => writeOne(db, how, all[index] as Write))
  return results
}

/**
 * Writes a group. If it fails, retries its writes individually, so that one failure does not affect the
 * others.
 */
async function writeGroup<Write, Row>(
  db: Db,
  how: SharedWrite<Write, Row>,
  all: readonly Write[],
  group: readonly number[],
  results: Results<Row>,
) {
  try {
    const rows = await how.run(
      db,
      group.map((index) => all[index] as Write),
    )
    for (const [place, index] of group.entries()) results[index] = rows[place]
  } catch (failure) {
    // After a lost connection the outcome is unknown, and a retry could write twice.
    const isFinal = group.length === 1 || failure instanceof DomainError
    for (const index of group)
      results[index] = isFinal
        ? (failure as Error)
        : await outcomeOf(() => writeOne(db, how, all[index] as Write))
  }
}

/** Runs a single write. */
export const writeOne = async <Write, Row>(
  db: Db,
  how: SharedWrite<Write, Row>,
  write: Write,
): Promise<Row | undefined> => (await how.run(db, [write]))[0]

async function outcomeOf<T>(work: () => Promise<T>): Promise<T | Error> {
  try {
    return await work()
  } catch (failure) {
    return failure as Error
  }
}
