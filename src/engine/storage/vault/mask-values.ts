/** Hides known secrets in JSON that others wrote. */
import { inTurns } from '../../../foundation/event-loop-turns.ts'
import { isObject } from '../../../foundation/is-object.ts'
import { type Mask, openMask } from './mask.ts'

/** The value without the secrets, in texts and in names of properties. */
export function maskIn<T>(value: T, secrets: readonly string[]): Promise<T> {
  return inTurns(masked(value, openMask(secrets))) as Promise<T>
}

function* masked(value: unknown, mask: Mask): Generator<void, unknown> {
  yield
  if (typeof value === 'string') return yield* mask(value)
  if (typeof value === 'number') {
    // A secret can be a number.
    const text = String(value)
    const shown = yield* mask(text)
    return shown === text ? value : shown
  }
  if (!isObject(value) && !Array.isArray(value)) return value
  const members: [string, unknown][] = []
  for (const [name, member] of Object.entries(value))
    members.push([yield* mask(name), yield* masked(member, mask)])
  return Array.isArray(value) ? members.map(([, member]) => member) : Object.fromEntries(members)
}
