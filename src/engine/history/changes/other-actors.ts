import { meantValue } from '../../../contract/suggest.ts'
import type { Scope } from '../../core/scope.ts'
import type { Reader } from '../../log/read.ts'
import { type SeqRange, withinTimes } from '../../log/time-range.ts'
import { conditionsFor, findGroups } from './find-groups.ts'

/** Groups that are looked at, and names that are shown. */
const MOST = { groups: 100, names: 10 }

/**
 * Advice for an actor without changes: the names of those that made the newest changes that the filter otherwise
 * matches and the token can read.
 */
export async function adviseActor(
  scope: Scope,
  baseId: string,
  reader: Reader,
  range: SeqRange,
): Promise<string | null> {
  const { actor } = reader.filter
  if (actor === null) return null
  const anyone: Reader = { ...reader, filter: { ...reader.filter, actor: null } }
  const within = await withinTimes(scope.db, baseId, range, anyone.filter)
  const conditions = conditionsFor(anyone, baseId)
  const { keys } = await findGroups(scope, baseId, anyone, conditions, within, MOST.groups, { entries: 0 })
  const names = [...new Set(keys.map(({ actor_name }) => actor_name))]
  const none = `There is no change by the actor ${JSON.stringify(actor.slice(0, 64))} here.`
  if (names.length === 0) return null
  const near = meantValue(actor, names)
  if (near !== undefined) return `${none} Did you mean ${JSON.stringify(near.slice(0, 64))}?`
  const shown = names.slice(0, MOST.names).map((name) => JSON.stringify(name.slice(0, 64)))
  return `${none} The newest are by ${shown.join(', ')}${names.length > MOST.names ? ' and others' : ''}.`
}
