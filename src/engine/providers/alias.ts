import { createHash } from 'node:crypto'

const MAX_CHARS = 64

/**
 * The name a provider takes for a record type: its id, or a cleaned one that ends in a digest of the id.
 * It depends on nothing but the id, so a call keeps its meaning whatever else is exported.
 */
export function alias(id: string, pattern: RegExp): string {
  if (pattern.test(id)) return id
  const digest = createHash('sha256').update(id).digest('hex').slice(0, 8)
  const clean = id.replaceAll(/[^A-Za-z0-9_-]/g, '_')
  const named = pattern.test(clean) ? clean : `_${clean}`
  return `${named.slice(0, MAX_CHARS - 9)}_${digest}`
}
