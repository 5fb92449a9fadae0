import { LIMITS } from '../../../foundation/limits.ts'
import { endpointsOf } from '../../configuration/endpoints/load-endpoints.ts'
import { requireBase } from '../../core/existing-base.ts'
import type { Scope } from '../../core/scope.ts'
import { type Slot, subscriberOf } from '../../log/stream-limits.ts'
import { requireBaseAccess } from '../../storage/access/access.ts'

/**
 * A record type of the base was created, changed or deleted. Null means that any type may have changed, or an
 * endpoint or a file type, if the token may read them.
 */
export type TypeChange = { recordType: string | null }

/**
 * Endless stream of changes to the types that the token may read, from now on. Without a base, it only ends
 * with the token. At an `endpoint`, includes changes of that endpoint. Coalesces pending changes of one type.
 * @throws FORBIDDEN, NOT_FOUND, RATE_LIMITED before the first
 */
export async function followTypes(
  scope: Scope,
  baseId: string | null,
  endpoint: string | null,
): Promise<AsyncIterableIterator<TypeChange>> {
  if (baseId !== null) {
    requireBaseAccess(scope.access, baseId)
    await requireBase(scope, baseId)
  }
  const noteEndpoints = endpointNotices(scope, baseId, endpoint)
  return follow(
    scope,
    baseId,
    noteEndpoints,
    scope.feed.openStream(subscriberOf(scope), baseId, scope.closed?.()),
  )
}

type NoteEndpoints = (note: (recordType: null) => void) => void

/**
 * Decides which endpoint changes to report: all of them to readers of all endpoints, otherwise only those of
 * the current endpoint.
 */
function endpointNotices(scope: Scope, baseId: string | null, endpoint: string | null): NoteEndpoints {
  if (baseId === null) return () => {}
  if (scope.access.allows('read', baseId, '*')) return (note) => note(null)
  if (endpoint === null) return () => {}
  const stampOf = async () => {
    const found = (await endpointsOf(scope, baseId)).get(endpoint)
    return found?.enabled ? found.stamp : null
  }
  // Start before a change can be missed. If the stamp cannot be read, assume a change.
  let last: Promise<string | null | undefined> = stampOf().catch(() => undefined)
  return (note) => {
    const before = last
    last = before.then(stampOf).catch(() => undefined)
    void Promise.all([before, last]).then(([then, now]) => {
      if (now === undefined || now !== then) note(null)
    })
  }
}

function follow(
  scope: Scope,
  baseId: string | null,
  noteEndpoints: NoteEndpoints,
  slot: Slot,
): AsyncIterableIterator<TypeChange> {
  const pending = new Set<string | null>()
  let wake = () => {}
  const note = (recordType: string | null) => {
    const any = recordType === null || pending.has(null) || pending.size >= LIMITS.followedTypesPending
    if (any) pending.clear()
    pending.add(any ? null : recordType)
    wake()
  }
  const unlisten = scope.caches.onAnnounced((topic) => {
    if (baseId === null) return
    if (topic === null) return note(null)
    const [kind, key = ''] = topic.split(/:(.*)/s)
    const [base, id = ''] = key.split('/')
    if (base !== baseId) return
    if (kind === 'endpoint' || kind === 'toolset') return noteEndpoints(note)
    // A file type may be the first or the last one: the file tools are listed where there is one.
    if (kind === 'file_type' && scope.access.allows('read', baseId, '*')) return note(null)
    if (kind === 'record_type' && scope.access.allows('read', baseId, id)) note(id)
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
