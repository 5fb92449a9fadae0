import type { WriteScope } from '../../core/write/write.ts'
import { statement } from '../../storage/database/client.ts'
import type { Kind, Loaded, Named, Stored } from './kind.ts'
import { stepsOf, stepsOfIds } from './read-in-steps.ts'

type Memo = {
  isWhole: boolean
  /** Rows by id; null where there is none. */
  readonly rows: Map<string, Stored | null>
  /** Those that were written or deleted here. */
  readonly written: Map<string, Stored | null>
}

/**
 * Opens the identity map in a transaction that has the configuration of the base locked, or outside one for a trial.
 */
export function openIdentityMap(scope: WriteScope, baseId: string, isTrial = false): Loaded {
  const memos = new Map<string, Memo>()
  const answers = new Map<unknown, Promise<unknown>>()
  const memoOf = ({ name }: Pick<Named, 'name'>): Memo => {
    const memo = memos.get(name) ?? { isWhole: false, rows: new Map(), written: new Map() }
    memos.set(name, memo)
    return memo
  }
  const once = <T>(key: unknown, read: () => Promise<T>): Promise<T> => {
    const known = answers.get(key) ?? read()
    answers.set(key, known)
    return known as Promise<T>
  }
  return {
    scope,
    baseId,
    isTrial,
    rows: async <F extends object, R extends Stored>(kind: Kind<F, R>, ids?: readonly string[]) => {
      const memo = memoOf(kind)
      const asked = ids?.filter((id) => !memo.rows.has(id))
      if (!memo.isWhole && asked?.length !== 0) {
        for (const id of asked ?? []) memo.rows.set(id, null)
        const steps = asked ? stepsOfIds(kind, scope.db, baseId, asked) : stepsOf(kind as Kind, scope, baseId)
        for await (const rows of steps)
          for (const row of rows) if (!memo.written.has(row.id)) memo.rows.set(row.id, row)
        memo.isWhole = asked === undefined
      }
      const rows = ids ? ids.map((id) => memo.rows.get(id)) : [...memo.rows.values()]
      return new Map(rows.flatMap((row) => (row ? [[row.id, row as R]] : [])))
    },
    ids: (kind) =>
      once(`ids of ${kind.name}`, async () => {
        const stored = await idsOf(scope, baseId, kind)
        return isTrial ? idsAfter(stored, memoOf(kind).written) : stored
      }),
    once: (read) => once(read, () => read(scope, baseId)),
    written: (kind) => memoOf(kind).written,
    wrote: (kind, id, row) => {
      memoOf(kind).rows.set(id, row)
      memoOf(kind).written.set(id, row)
      answers.clear()
    },
  }
}

function idsAfter(stored: readonly string[], written: ReadonlyMap<string, Stored | null>): string[] {
  const ids = new Set(stored)
  for (const [id, row] of written)
    if (row) ids.add(id)
    else ids.delete(id)
  return [...ids].sort()
}

async function idsOf({ db }: WriteScope, baseId: string, { name }: Named): Promise<string[]> {
  // Safe to interpolate: names of kinds are constants.
  const ids = statement(`ids_of_${name}`, `SELECT id FROM plinth.${name} WHERE base_id = $1 ORDER BY id`)
  return (await db.query<{ id: string }>(ids, [baseId])).map(({ id }) => id)
}
