/** The configuration of a base in canonical form, and its hash. */
import { digestInTurns } from '../../contract/canonical-hash.ts'
import { CONFIG_KINDS, listName } from '../../contract/config-shapes.ts'
import { invalid } from '../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { KINDS } from '../configuration/kinds.ts'
import { type Definition, definitionOf } from '../configuration/lifecycle/definition.ts'
import { fieldsOf } from '../configuration/lifecycle/fields.ts'
import { stepsOf } from '../configuration/lifecycle/read-in-steps.ts'
import { baseNotFound } from '../core/existing-base.ts'
import type { Scope } from '../core/scope.ts'
import { type Db, statement } from '../storage/database/client.ts'

/** Definitions by id, of one kind. Ids are in code point order. */
export type Definitions = ReadonlyMap<string, Definition>
/** Definitions by the name of the kind. */
export type Snapshot = ReadonlyMap<string, Definitions>

// Waits for writers of configuration, so that a snapshot has all of a change or nothing of it.
const SHARE_BASE = statement('share_base', 'SELECT 1 AS one FROM plinth.base WHERE id = $1 FOR SHARE')

/**
 * Reads the configuration of a base at one moment.
 * @throws NOT_FOUND
 */
export const readSnapshot = (scope: Scope, baseId: string): Promise<Snapshot> =>
  scope.db.transaction(async (tx) => {
    if ((await tx.query(SHARE_BASE, [baseId])).length === 0) throw baseNotFound(baseId)
    return snapshotIn(tx, baseId)
  })

/**
 * Reads the configuration of a base whose configuration the transaction has locked.
 * @throws VALIDATION_ERROR when it is too large to be one file
 */
export async function snapshotIn(db: Db, baseId: string): Promise<Snapshot> {
  let bytes = 0
  let resources = 0
  const snapshot = new Map<string, Definitions>()
  for (const kind of KINDS) {
    const found: [string, Definition][] = []
    for await (const rows of stepsOf(kind, { db }, baseId))
      for (const row of rows) {
        if (turnIsOver()) await nextTurn()
        const definition = definitionOf(kind, fieldsOf(kind, row))
        bytes += JSON.stringify(definition).length
        if (bytes > LIMITS.configBytes) throw tooLarge(baseId, LIMITS.configBytes, 'bytes')
        if (++resources > LIMITS.configResources) throw tooLarge(baseId, LIMITS.configResources, 'resources')
        found.push([row.id, definition])
      }
    snapshot.set(kind.name, new Map(found.reverse()))
  }
  return snapshot
}

/** The lists of a config file, one for each kind of the contract. */
export const listsOf = (snapshot: Snapshot): Record<string, readonly Definition[]> =>
  Object.fromEntries(
    CONFIG_KINDS.map((kind) => [
      listName(kind),
      [...(snapshot.get(kind) ?? [])].map(([id, definition]) => ({ id, ...definition })),
    ]),
  )

/** Hash of the configuration. Bases with equal configuration have equal hashes. */
export const hashOf = (snapshot: Snapshot): Promise<string> => digestInTurns(listsOf(snapshot))

const tooLarge = (baseId: string, expected: number, unit: string) =>
  invalid({
    path: '/base_id',
    code: 'too_large',
    message: `The configuration of base "${baseId}" has more than ${expected} ${unit}. Read its resources one by one.`,
    expected,
  })
