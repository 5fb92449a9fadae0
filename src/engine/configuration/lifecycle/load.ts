import { statement } from '../../database/client.ts'
import type { WriteScope } from '../../write/write.ts'
import type { Kind, Loaded, Named, Stored } from './kind.ts'
import { stepsOf, stepsOfIds } from './read-in-steps.ts'

type Memo = { isWhole: boolean; readonly rows: Map<string, Stored | null> }

/** Opens the identity map in a transaction that has the configuration of the base locked. */
export function loadedIn(scope: WriteScope, baseId: string): Loaded {
  const memos = new Map<Kind, Memo>()
  const answers = new Map<unknown, Promise<unknown>>()
  const memoOf = (kind: Kind): Memo => {
    const memo = memos.get(kind) ?? { isWhole: false, rows: new Map() }
    memos.set(kind, memo)
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
    rows: async <F extends object, R extends Stored>(kind: Kind<F, R>, ids?: readonly string[]) => {
      const memo = memoOf(kind as Kind)
      const asked = ids?.filter((id) => !memo.rows.has(id))
      if (!memo.isWhole && asked?.length !== 0) {
        for (const id of asked ?? []) memo.rows.set(id, null)
        const steps = asked ? stepsOfIds(kind, scope.db, baseId, asked) : stepsOf(kind as Kind, scope, baseId)
        for await (const rows of steps) for (const row of rows) memo.rows.set(row.id, row)
        memo.isWhole = asked === undefined
      }
      const rows = ids ? ids.map((id) => memo.rows.get(id)) : [...memo.rows.values()]
      return new Map(rows.flatMap((row) => (row ? [[row.id, row as R]] : [])))
    },
    ids: (kind) => once(`ids of ${kind.name}`, () => idsOf(scope, baseId, kind)),
    once: (read) => once(read, () => read(scope, baseId)),
    wrote: (kind, id, row) => {
      memoOf(kind).rows.set(id, row)
      answers.clear()
    },
  }
}

async function idsOf({ db }: WriteScope, baseId: string, { name }: Named): Promise<string[]> {
  // Safe to interpolate: names of kinds are constants.
  const ids = statement(`ids_of_${name}`, `SELECT id FROM plinth.${name} WHERE base_id = $1 ORDER BY id`)
  return (await db.query<{ id: string }>(ids, [baseId])).map(({ id }) => id)
}
