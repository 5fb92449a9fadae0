/** Adds up in memory what tokens use, until it is stored. */
import { LIMITS } from '../../../foundation/limits.ts'
import { isFailure, type MadeCall } from './made-call.ts'
import type { StoredUsage } from './store-usage.ts'

type Counted = { -readonly [Name in keyof StoredUsage]: StoredUsage[Name] }

const HOUR_MS = 3_600_000
/** Failures of requests that may have named what does not exist. */
const MISSED = new Set(['NOT_FOUND', 'FORBIDDEN'])
/** Codes of MCP itself: the tool was not reached. */
const OF_PROTOCOL = /^-?\d+$/

/** Counts by hour, base, token, address and tool. One token, and all together, have at most so many of them at a time. */
export class UsageCounts {
  readonly #rows = new Map<string, Counted>()
  readonly #ofToken = new Map<string, number>()
  /** How many calls were not counted, since there was no room. */
  dropped = 0

  add(call: MadeCall): void {
    const { baseId, actor, surface, outcome } = call
    const [hour, token] = [Math.floor(Date.now() / HOUR_MS), actor.tokenId ?? '']
    const failed = isFailure(outcome)
    // Names that nothing has would be as many as a client can invent.
    const isNamed = !failed || (call.tool === null ? !MISSED.has(outcome) : !OF_PROTOCOL.test(outcome))
    const endpoint = isNamed ? (call.endpoint ?? '') : ''
    const tool = isNamed ? (call.tool ?? '') : ''
    const key = `${hour}\n${baseId}\n${token}\n${surface}\n${endpoint}\n${tool}`
    let row = this.#rows.get(key)
    if (row === undefined) {
      const { name: actor_name, kind } = actor
      const who = {
        token_id: token,
        actor_name,
        actor_kind: kind === undefined || kind === 'program' ? null : kind,
      }
      row = { base_id: baseId, hour: hour * HOUR_MS, ...who, surface, endpoint, tool, ...NOTHING }
      if (!this.#open(key, row)) return
    }
    row.calls++
    if (failed) row.failed++
    else if (!call.wrote) row.reads++
    row.bytes_in += call.bytesIn
    row.bytes_out += call.bytesOut
    row.ms += call.ms
  }
  /** Removes and returns all counts. */
  take(): readonly [key: string, counted: StoredUsage][] {
    const taken = [...this.#rows]
    this.#rows.clear()
    this.#ofToken.clear()
    return taken
  }
  /** Adds what could not be stored. */
  putBack(taken: readonly [key: string, counted: StoredUsage][]): void {
    for (const [key, counted] of taken) {
      const row = this.#rows.get(key)
      if (row === undefined) this.#open(key, { ...counted })
      else for (const name of SUMS) row[name] += counted[name]
    }
  }
  #open(key: string, row: Counted): boolean {
    const mine = this.#ofToken.get(row.token_id) ?? 0
    if (mine >= LIMITS.usageRowsOfToken || this.#rows.size >= LIMITS.usageRows) {
      this.dropped += Math.max(1, row.calls)
      return false
    }
    this.#ofToken.set(row.token_id, mine + 1)
    this.#rows.set(key, row)
    return true
  }
}

const SUMS = ['calls', 'failed', 'reads', 'bytes_in', 'bytes_out', 'ms'] as const
const NOTHING = { calls: 0, failed: 0, reads: 0, bytes_in: 0, bytes_out: 0, ms: 0 }
