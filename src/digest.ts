import { hash } from 'node:crypto'

/** A short name for a JSON value; equal values have one, whatever the order of their keys. */
export const digest = (value: unknown): string => hash('sha256', JSON.stringify(ordered(value)), 'base64url')

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return { keys: entries.map(([key]) => key), values: entries.map(([, inner]) => ordered(inner)) }
}
