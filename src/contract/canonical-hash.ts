import { createHash, type Hash, hash } from 'node:crypto'
import { nextTurn, turnIsOver } from '../foundation/turns.ts'

/** A short name for a JSON value; equal values have one, whatever the order of their keys. */
export const digest = (value: unknown): string => hash('sha256', canonical(value), 'base64url')

/** How deep a request is cut: its surface, body, operations, one of them, and then what that has. */
const CUT_LEVELS = 5

/** `digest` of a request of any size, in turns of the event loop. */
export async function digestInTurns(value: unknown): Promise<string> {
  const sha = createHash('sha256')
  await feed(sha, value, CUT_LEVELS)
  return sha.digest('base64url')
}

/** Feeds the canonical text of a value; what lies below the levels is made at once. */
async function feed(sha: Hash, value: unknown, levels: number): Promise<void> {
  if (turnIsOver()) await nextTurn()
  if (levels === 0 || typeof value !== 'object' || value === null) {
    sha.update(canonical(value) || 'null')
    return
  }
  const isArray = Array.isArray(value)
  const of = value as Record<string, unknown>
  const keys = isArray ? null : Object.keys(of).sort()
  const members = keys?.filter((key) => of[key] !== undefined) ?? Object.keys(value)
  sha.update(isArray ? '[' : '{')
  for (const [index, key] of members.entries()) {
    sha.update(`${index > 0 ? ',' : ''}${isArray ? '' : `${JSON.stringify(key)}:`}`)
    await feed(sha, of[key], levels - 1)
  }
  sha.update(isArray ? ']' : '}')
}

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
