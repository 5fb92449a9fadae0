import { demandSight } from '../access.ts'
import { demandBase } from '../bases/index.ts'
import { holderOf, type Slot } from '../changes/streams.ts'
import type { Scope } from '../scope.ts'

/** A record type of the base was made, changed or removed; null says that any of them may have been, or an endpoint. */
export type TypeChange = { recordType: string | null }

/**
 * The changes of the types that the token may read, without end and from now on; of no base, it only ends when the token
 * does. Several changes of a type that nobody took yet are one.
 * @throws FORBIDDEN, NOT_FOUND, RATE_LIMITED before the first
 */
export async function followTypes(
  scope: Scope,
  baseId: string | null,
): Promise<AsyncIterableIterator<TypeChange>> {
  if (baseId !== null) {
    demandSight(scope.access, baseId)
    await demandBase(scope, baseId)
  }
  return follow(scope, baseId, scope.feed.openStream(holderOf(scope), baseId, scope.closed?.()))
}

const MOST_PENDING = 100

function follow(scope: Scope, baseId: string | null, slot: Slot): AsyncIterableIterator<TypeChange> {
  const pending = new Set<string | null>()
  let wake = () => {}
  const note = (recordType: string | null) => {
    const any = recordType === null || pending.has(null) || pending.size >= MOST_PENDING
    if (any) pending.clear()
    pending.add(any ? null : recordType)
    wake()
  }
  const unlisten = scope.caches.onAnnounced((topic) => {
    if (baseId === null) return
    if (topic === null || topic === `endpoints:${baseId}`) return note(null)
    const id = topic.startsWith(`type:${baseId}/`) ? topic.slice(`type:${baseId}/`.length) : undefined
    if (id !== undefined && scope.access.allows('read', baseId, id)) note(id)
  })
  const end = () => {
    unlisten()
    wake()
  }
  slot.signal.addEventListener('abort', end, { once: true })
  if (slot.signal.aborted) end()
  return {
    next: async () => {
      while (pending.size === 0 && !slot.signal.aborted)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      if (slot.signal.aborted) return { done: true, value: undefined }
      const [recordType = null] = pending
      pending.delete(recordType)
      return { done: false, value: { recordType } }
    },
    return: async () => {
      slot.end()
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
