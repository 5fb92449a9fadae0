/** Hides known secrets in JSON that others wrote. */
import { isObject } from '../../foundation/is-object.ts'
import { maskSecrets } from './mask.ts'

/** The value without the secrets, in texts and in names of properties. */
export function maskIn<T>(value: T, secrets: readonly string[]): T {
  const masked = (each: unknown): unknown => {
    if (typeof each === 'string') return maskSecrets(each, secrets)
    if (typeof each === 'number') return maskedNumber(each, secrets)
    if (Array.isArray(each)) return each.map(masked)
    if (!isObject(each)) return each
    return Object.fromEntries(
      Object.entries(each).map(([name, member]) => [maskSecrets(name, secrets), masked(member)]),
    )
  }
  return masked(value) as T
}

/** A secret can be a number. */
function maskedNumber(value: number, secrets: readonly string[]): unknown {
  const text = String(value)
  const shown = maskSecrets(text, secrets)
  return shown === text ? value : shown
}
