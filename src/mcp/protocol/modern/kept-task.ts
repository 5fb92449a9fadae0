/** What a task keeps of its call, and how its client sees it. */
import { LIMITS } from '../../../foundation/limits.ts'
import { sealText, type Task, type TaskChange, unsealText } from '../../../graphql/context.ts'
import { type AddressSession, exactAddressOf } from '../address-session.ts'
import type { Wire } from '../provider.ts'

export type Call = { name: string; arguments?: Record<string, unknown> | undefined }
/** A question that a task asks, and all that its call needs to go on with the answers. */
type Asked = { call: Call; requests: Wire; answers: Wire; requestState: string; round: number }
/** What a task keeps beside its status. */
type Kept = { result?: object; error?: object; asked?: Asked }

/** The fields of a task without what it answers. */
export const handleOf = ({ id, status, message, createdAt, updatedAt }: Task): object => ({
  taskId: id,
  status,
  ...(message !== null && { statusMessage: message }),
  createdAt,
  lastUpdatedAt: updatedAt,
  ttlMs: RUNS.has(status) ? null : updatedAt.getTime() - createdAt.getTime() + LIMITS.taskKeptMs,
  pollIntervalMs: LIMITS.taskBeatMs,
})
const RUNS: ReadonlySet<string> = new Set(['working', 'input_required'])

// A question has a name that no other question of the task has, in another round either.

const keyOf = (name: string, round: number): string => `${round}_${name}`
export const nameOf = (key: string): string => key.slice(key.indexOf('_') + 1)

/** The questions of a task that are not answered yet. */
export const openOf = (asked: Asked | undefined): Wire =>
  Object.fromEntries(
    Object.entries(asked?.requests ?? {}).filter(([key]) => !(key in (asked?.answers ?? {}))),
  )

// What a task keeps is sealed: the token that made the call opens it, at the same address.

const boundTo = (session: AddressSession, id: string) => ['task', id, exactAddressOf(session)]
export const sealKept = (session: AddressSession, id: string, kept: Kept): string =>
  sealText(session.context, boundTo(session, id), JSON.stringify(kept))

export function openKept(session: AddressSession, { id, sealed }: Task): Kept | undefined {
  if (sealed === null) return {}
  const text = unsealText(session.context, boundTo(session, id), sealed)
  return text === undefined ? undefined : (JSON.parse(text) as Kept)
}

/** The JSON-RPC response that a call would have had. */
export type Response = { result: object } | { error: { code: number; message: string; data?: object } }

type Ending = { id: string; call: Call; round: number; session: AddressSession; isWithdrawn: boolean }

/** What a task becomes when its call ends, or asks. */
export function changeOf(response: Response, { id, call, round, session, isWithdrawn }: Ending): TaskChange {
  if ('error' in response) {
    if (isWithdrawn) return CANCELLED
    const { error } = response
    return { status: 'failed', message: error.message, sealed: sealKept(session, id, { error }) }
  }
  const result = response.result as Wire
  if (result['resultType'] === 'input_required') {
    const { inputRequests, requestState } = result as { inputRequests: Wire; requestState: string }
    const requests = Object.fromEntries(
      Object.entries(inputRequests).map(([name, request]) => [keyOf(name, round), request]),
    )
    const asked = { call, requests, answers: {}, requestState, round }
    return { status: 'input_required', sealed: sealKept(session, id, { asked }) }
  }
  if (isWithdrawn && result['isError'] === true) return CANCELLED
  return { status: 'completed', sealed: sealKept(session, id, { result }) }
}

const CANCELLED: TaskChange = { status: 'cancelled', message: 'The call was cancelled.' }
