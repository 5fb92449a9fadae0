import { hash } from 'node:crypto'

/** A short name for a JSON value; equal values have one, whatever the order of their keys. */
export const digest = (value: unknown): string => hash('sha256', canonical(value), 'base64url')

/** The same in the form that `sha256sum` prints. */
export const hexDigest = (value: unknown): string => hash('sha256', canonical(value), 'hex')

/** One text for equal values. */
const canonical = (value: unknown): string => JSON.stringify(ordered(value)) ?? ''

function ordered(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(ordered)
  const of = value as Record<string, unknown>
  const keys = Object.keys(of).sort()
  return Object.fromEntries(keys.map((key) => [key, ordered(of[key])]))
}
