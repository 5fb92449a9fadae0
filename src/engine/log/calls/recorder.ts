/** Stores calls behind their answers, some at a time, and adds up usage. No answer waits for it, and it holds a bounded part in memory. */
import { LIMITS } from '../../../foundation/limits.ts'
import type { Log } from '../../../foundation/log.ts'
import { uuidv7 } from '../../../foundation/uuid.ts'
import type { Db } from '../../storage/database/client.ts'
import { maskSecrets } from '../../storage/vault/mask.ts'
import { cutText, firstOf } from './cut-json.ts'
import { type EndedCall, isListed, type MadeCall, type Writes, withChanges } from './made-call.ts'
import { type CallSettings, COUNT_CHANGES, insertCalls, SETTINGS_OF_CALLS, type StoredCall } from './store.ts'
import { openUsage } from './usage-recorder.ts'

export type CallRecorder = {
  /** Records one of the `calls` of a request that made these writes. */
  record(call: EndedCall, writes: Writes, calls: number): void
  /** Stores what waits, for a reader. It does not fail. */
  settle(): Promise<void>
  /** How many calls were not stored, since too many waited or the database was away. */
  dropped(): number
  /** Stores what was used so far, for a reader. It does not fail. */
  settleUsage(): Promise<void>
}

/** A call to store. `changes` is null where they are to be counted. */
type Waiting = Omit<StoredCall, 'arguments' | 'changes'> & Pick<MadeCall, 'changes'> & Arguments
/** Whole ones, which may have secrets; else the first part of them as text. */
type Arguments = { readonly whole?: unknown; readonly part?: string }
type Deps = {
  readonly db: Db
  readonly log: Log
  /** The secrets that texts of a base may have. */
  readonly secretsOf: (baseId: string) => Promise<readonly string[]>
  /** The last settled entry of the change log. */
  readonly settledSeq: () => Promise<number>
}

export function openCallRecorder({ db, log, secretsOf, settledSeq }: Deps): CallRecorder {
  const usage = openUsage(db, settledSeq, log)
  const waiting: Waiting[] = []
  const ofToken = new Map<string, number>()
  let storing: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let [dropped, reported] = [0, 0]

  const storeAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, LIMITS.callsAtOnce)
      if (waiting.length === 0) ofToken.clear()
      await store(db, batch, secretsOf).catch((err: unknown) => {
        dropped += batch.length
        reported += batch.length
        log.warn({ err, calls: batch.length }, 'calls were not recorded')
      })
    }
    if (dropped > reported)
      log.warn({ calls: dropped - reported }, 'calls were not recorded: too many came at once')
    reported = dropped
  }
  const settle = async (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    storing ??= storeAll().finally(() => {
      storing = undefined
    })
    await storing
  }
  return {
    record(ended, writes, calls) {
      const call = withChanges(ended, writes, calls)
      usage.count(call)
      if (!isListed(call)) return
      const { tokenId } = call.actor
      const mine = ofToken.get(tokenId ?? '') ?? 0
      // One token leaves room for the others.
      if (waiting.length >= LIMITS.callsPending || mine >= LIMITS.callsPendingOfToken) {
        dropped++
        return
      }
      ofToken.set(tokenId ?? '', mine + 1)
      waiting.push(toWaiting(call))
      if (waiting.length >= LIMITS.callsAtOnce && !storing) void settle()
      else timer ??= setTimeout(() => void settle(), LIMITS.callsStoreMs).unref()
    },
    settle: async () => {
      // What waits may have come after the batch that is being stored.
      await storing
      if (waiting.length > 0) await settle()
    },
    dropped: () => dropped,
    settleUsage: usage.settle,
  }
}

const toWaiting = (call: MadeCall): Waiting => ({
  base_id: call.baseId,
  id: uuidv7(),
  at: new Date().toISOString(),
  token_id: call.actor.tokenId ?? '',
  actor_name: call.actor.name,
  actor_kind: call.actor.kind === undefined || call.actor.kind === 'program' ? null : call.actor.kind,
  via: call.via,
  surface: call.surface,
  endpoint: call.endpoint,
  tool: call.tool,
  route: call.route,
  outcome: call.outcome,
  message: call.message === null ? null : cutText(call.message, LIMITS.callMessageBytes),
  ms: Math.round(call.ms),
  bytes_in: call.bytesIn,
  bytes_out: call.bytesOut,
  ...argumentsOf(call),
  request_id: call.requestId,
  call_id: call.callId,
  changes: call.changes,
})

/** Few bases keep arguments, so short ones are printed, cut and rid of secrets when they are stored. */
function argumentsOf({ arguments: args, bytesIn }: MadeCall): Arguments {
  if (args === undefined) return {}
  return bytesIn <= LIMITS.callArgumentBytes
    ? { whole: args }
    : { part: firstOf(args, LIMITS.callArgumentBytes) }
}

async function store(db: Db, batch: readonly Waiting[], secretsOf: Deps['secretsOf']): Promise<void> {
  const bases = [...new Set(batch.map(({ base_id }) => base_id))]
  const found = await db.query<CallSettings>(SETTINGS_OF_CALLS, [bases])
  const settings = new Map(found.map((each) => [each.id, each]))
  const counted = await countChanges(db, batch)
  const rows: StoredCall[] = []
  for (const [n, call] of batch.entries()) {
    const { days = 0, withArguments = false } = settings.get(call.base_id) ?? {}
    if (days === 0) continue
    const shown = withArguments ? await masked(call, secretsOf) : null
    rows.push({ ...call, arguments: shown, changes: call.changes ?? counted.get(n) ?? 0 })
  }
  if (rows.length > 0) await insertCalls(db, rows)
}

/**
 * The changes of those calls of a batch that do not know them, by their place. Of equal requests, the first has made all but
 * the changes that the others know.
 */
async function countChanges(db: Db, batch: readonly Waiting[]): Promise<ReadonlyMap<number, number>> {
  if (batch.every(({ changes }) => changes !== null)) return new Map()
  const asked = new Map<string, object>()
  const known = new Map<string, number>()
  for (const [n, { changes, base_id, token_id, request_id, call_id, at, ms }] of batch.entries()) {
    const key = `${base_id} ${token_id} ${request_id} ${call_id ?? ''}`
    // A second, for the clock of the database.
    const since = new Date(Date.parse(at) - ms - 1000).toISOString()
    if (changes !== null) known.set(key, (known.get(key) ?? 0) + changes)
    else if (!asked.has(key)) asked.set(key, { n, key, base_id, token_id, request_id, call_id, since })
  }
  const counts = await db.query<{ n: number; key: string; changes: number }>(COUNT_CHANGES, [
    JSON.stringify([...asked.values()]),
  ])
  return new Map(counts.map(({ n, key, changes }) => [n, Math.max(0, changes - (known.get(key) ?? 0))]))
}

async function masked(
  { base_id, whole, part }: Waiting,
  secretsOf: Deps['secretsOf'],
): Promise<string | null> {
  const text = whole === undefined ? part : firstOf(whole, LIMITS.callArgumentBytes)
  if (text === undefined) return null
  const isCut = text.length >= LIMITS.callArgumentBytes
  return cutText(await maskSecrets(text, await secretsOf(base_id), isCut), LIMITS.callArgumentBytes)
}
