import { createHash } from 'node:crypto'

const MAX_CHARS = 64

/**
 * A name that a provider accepts: the name itself, or a sanitized form with a digest suffix. It depends on the
 * name only, so it is stable across exports.
 */
export function alias(name: string, pattern: RegExp): string {
  if (pattern.test(name)) return name
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 8)
  const clean = name.replaceAll(/[^A-Za-z0-9_-]/g, '_')
  const named = pattern.test(clean) ? clean : `_${clean}`
  return `${named.slice(0, MAX_CHARS - 9)}_${digest}`
}
