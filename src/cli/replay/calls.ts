/** The recorded calls of a session: which of them are run again, and with which arguments. */
import { isObject } from '../../foundation/is-object.ts'
import { REDACTED } from '../../foundation/redacted.ts'
import { misused } from '../command/failure.ts'
import type { Server } from './server.ts'

type Recorded = {
  at: string
  /** Null of a request that was no call of a tool. */
  tool: string | null
  endpoint: string | null
  outcome: string
  arguments: string | null
  request_id: string
  changes: number
}
type Call = Recorded & { tool: string }
type Args = Record<string, unknown>
export type Repeated = { call: Call; args: Args }

/** Calls that are read at most. */
const MOST = 1000
/** Tools of records. Those of a type are `create_<type>` and `update_<type>`. */
const WRITES =
  /^((create|update)_.+|upsert_record|cancel_record|delete_record|link_records|batch|sql_write|run_action)$/
/** What guards against others, of whom a change-set has none, or belongs to another request or base. */
const LEFT_OUT = ['base_id', 'plan_token', 'idempotency_key', 'expected_version', 'claim_id']

/** @returns the calls, the oldest first */
export async function readCalls({ list }: Server, base: string, filter: Record<string, string>) {
  const { data, meta } = await list<Recorded>([base, 'calls'], { ...filter, limit: `${MOST}` })
  if (meta.has_more)
    throw misused(`These are more than ${MOST} calls. Name a shorter time with --since and --until.`)
  return data.flatMap(({ tool, ...call }) => (tool === null ? [] : [{ ...call, tool }])).reverse()
}

/** Divides calls into those that are run again and the others, with the reason. */
export function selectCalls(calls: readonly Call[]) {
  const repeated: Repeated[] = []
  const left: { tool: string; reason: string }[] = []
  // A plan is confirmed by its token alone: what is run again is the call that asked for it.
  const planned = new Map<string, Args>()
  for (const call of calls) {
    const { tool } = call
    const given = argumentsOf(call)
    const isConfirmed = typeof given !== 'string' && given['plan_token'] !== undefined
    const args = isConfirmed ? (planned.get(tool) ?? 'confirms a plan that is not among these calls') : given
    const reason = typeof args === 'string' ? args : reasonOf(call, isConfirmed)
    if (typeof args !== 'string' && reason === undefined) repeated.push({ call, args })
    else left.push({ tool, reason: reason ?? '' })
    if (reason === NOTHING && typeof args !== 'string' && args['dry_run'] !== true) planned.set(tool, args)
    else if (isConfirmed) planned.delete(tool)
  }
  return { repeated, left }
}

const NOTHING = 'changed nothing'

function reasonOf({ outcome, changes }: Call, isConfirmed: boolean): string | undefined {
  if (outcome === 'input_required') return 'asked its user'
  if (outcome === 'cancelled') return 'its client left'
  if (isConfirmed && outcome !== 'ok') return 'confirmed a plan in vain'
  return outcome === 'ok' && changes === 0 ? NOTHING : undefined
}

/** The arguments of a call, or why it cannot be run again. */
function argumentsOf({ tool, endpoint, arguments: text, outcome, changes }: Call): Args | string {
  if (endpoint !== null) return 'at an endpoint, which change-sets do not have'
  if (!WRITES.test(tool)) return outcome === 'ok' && changes === 0 ? NOTHING : 'no write of records'
  if (text === null) return 'its arguments were not kept'
  try {
    const args: unknown = JSON.parse(text)
    if (!isObject(args)) return 'it had no arguments'
    return JSON.stringify(without(args)).includes(REDACTED) ? 'its arguments had secrets' : args
  } catch {
    return 'its arguments are kept in part'
  }
}

/** The arguments as they are sent: with ids that the replay has made in place of those of then. */
export function argumentsFor({ args }: Repeated, ids: ReadonlyMap<string, string>): object {
  const operations = args['operations']
  const bare = Array.isArray(operations)
    ? { ...args, operations: operations.map((each) => (isObject(each) ? without(each) : each)) }
    : args
  return withIds(without(bare), ids) as object
}

const without = (args: Args): Args =>
  Object.fromEntries(Object.entries(args).filter(([name]) => !LEFT_OUT.includes(name)))

/** A value with other ids in the place of those that it names. */
export function withIds(value: unknown, ids: ReadonlyMap<string, string>): unknown {
  if (typeof value === 'string') return ids.get(value) ?? value
  if (Array.isArray(value)) return value.map((each) => withIds(each, ids))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withIds(each, ids)]))
}
