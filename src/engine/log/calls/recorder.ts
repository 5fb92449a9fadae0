/** Stores calls behind their answers, some at a time, and adds up usage. No answer waits for it, and it holds a bounded part in memory. */
import { LIMITS } from '../../../foundation/limits.ts'
import type { Log } from '../../../foundation/log.ts'
import { uuidv7 } from '../../../foundation/uuid.ts'
import type { Db } from '../../storage/database/client.ts'
import { maskSecrets } from '../../storage/vault/mask.ts'
import { cutText, firstOf } from './cut-json.ts'
import { isListed, type MadeCall } from './made-call.ts'
import { type CallSettings, COUNT_CHANGES, insertCalls, SETTINGS_OF_CALLS, type StoredCall } from './store.ts'
import { openUsage } from './usage-recorder.ts'

export type CallRecorder = {
  record(call: MadeCall): void
  /** Stores what waits, for a reader. It does not fail. */
  settle(): Promise<void>
  /** How many calls were not stored, since too many waited or the database was away. */
  dropped(): number
  /** Stores what was used so far, for a reader. It does not fail. */
  settleUsage(): Promise<void>
}

/** `isRaw`: its arguments are whole, and may have secrets. */
type Waiting = StoredCall & { readonly wrote: boolean; readonly isRaw: boolean }
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
    record(call) {
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
  changes: 0,
  wrote: call.wrote,
})

/** Few bases keep arguments, so short ones are cut and rid of secrets when they are stored. */
function argumentsOf({ arguments: args, bytesIn }: MadeCall): Pick<Waiting, 'arguments' | 'isRaw'> {
  if (args === undefined) return { arguments: null, isRaw: false }
  const most = LIMITS.callArgumentBytes
  const text = bytesIn <= most ? JSON.stringify(args) : undefined
  const isRaw = text !== undefined && text.length <= most
  return { arguments: isRaw ? text : firstOf(args, most), isRaw }
}

async function store(db: Db, batch: readonly Waiting[], secretsOf: Deps['secretsOf']): Promise<void> {
  const bases = [...new Set(batch.map(({ base_id }) => base_id))]
  const found = await db.query<CallSettings>(SETTINGS_OF_CALLS, [bases])
  const settings = new Map(found.map((each) => [each.id, each]))
  const changes = await countChanges(db, batch)
  const rows: StoredCall[] = []
  for (const [n, { wrote: _, isRaw, ...call }] of batch.entries()) {
    const { days = 0, withArguments = false } = settings.get(call.base_id) ?? {}
    if (days === 0) continue
    const shown = withArguments && call.arguments !== null ? await masked(call, isRaw, secretsOf) : null
    rows.push({ ...call, arguments: shown, changes: changes.get(n) ?? 0 })
  }
  if (rows.length > 0) await insertCalls(db, rows)
}

/** The changes of each call of a batch, by its place. Of equal requests, the first has made all. */
async function countChanges(db: Db, batch: readonly Waiting[]): Promise<ReadonlyMap<number, number>> {
  const asked = new Map<string, object>()
  for (const [n, { wrote, base_id, token_id, request_id, call_id, at, ms }] of batch.entries()) {
    const key = `${base_id} ${token_id} ${request_id} ${call_id ?? ''}`
    // A second, for the clock of the database.
    const since = new Date(Date.parse(at) - ms - 1000).toISOString()
    if (wrote && !asked.has(key)) asked.set(key, { n, base_id, token_id, request_id, call_id, since })
  }
  if (asked.size === 0) return new Map()
  const counts = await db.query<{ n: number; changes: number }>(COUNT_CHANGES, [
    JSON.stringify([...asked.values()]),
  ])
  return new Map(counts.map(({ n, changes }) => [n, changes]))
}

async function masked(
  { base_id, arguments: kept }: StoredCall,
  isRaw: boolean,
  secretsOf: Deps['secretsOf'],
): Promise<string | null> {
  if (kept === null) return null
  const text = isRaw ? firstOf(JSON.parse(kept), LIMITS.callArgumentBytes) : kept
  const isCut = text.length >= LIMITS.callArgumentBytes
  return cutText(await maskSecrets(text, await secretsOf(base_id), isCut), LIMITS.callArgumentBytes)
}
