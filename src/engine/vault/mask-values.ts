/** Hides known secrets in JSON that others wrote. */
import { isObject } from '../../foundation/is-object.ts'
import { type Mask, openMask } from './mask.ts'

/** The value without the secrets, in texts and in names of properties. */
export function maskIn<T>(value: T, secrets: readonly string[]): T {
  const mask = openMask(secrets)
  const masked = (each: unknown): unknown => {
    if (typeof each === 'string') return mask(each)
    if (typeof each === 'number') return maskedNumber(each, mask)
    if (Array.isArray(each)) return each.map(masked)
    if (!isObject(each)) return each
    return Object.fromEntries(Object.entries(each).map(([name, member]) => [mask(name), masked(member)]))
  }
  return masked(value) as T
}

/** A secret can be a number. */
function maskedNumber(value: number, mask: Mask): unknown {
  const text = String(value)
  const shown = mask(text)
  return shown === text ? value : shown
}
