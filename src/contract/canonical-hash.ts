import { createHash, type Hash, hash } from 'node:crypto'
import { nextTurn, turnIsOver } from '../foundation/event-loop-turns.ts'

/**
 * Canonical hash of a JSON value (SHA-256 over JSON with sorted keys). Equal values have equal hashes,
 * in any order of their keys.
 */
export const digest = (value: unknown): string => hash('sha256', canonicalText(value), 'base64url')

/** Nesting levels that `digestInTurns` processes separately. Deeper values are hashed in one step. */
const CUT_LEVELS = 5

/** `digest` for values of any size, yielding to the event loop. */
export async function digestInTurns(value: unknown): Promise<string> {
  const sha = createHash('sha256')
  await feed(sha, value, CUT_LEVELS)
  return sha.digest('base64url')
}

/** Feeds the canonical JSON of a value to the hash. Values below `levels` are serialized in one step. */
async function feed(sha: Hash, value: unknown, levels: number): Promise<void> {
  if (turnIsOver()) await nextTurn()
  if (levels === 0 || typeof value !== 'object' || value === null) {
    sha.update(canonicalText(value) || 'null')
    return
  }
  const isArray = Array.isArray(value)
  const of = isArray ? (value as unknown as Record<string, unknown>) : inOrder(value, (member) => member)
  const members = Object.keys(of).filter((key) => isArray || of[key] !== undefined)
  sha.update(isArray ? '[' : '{')
  for (const [index, key] of members.entries()) {
    sha.update(`${index > 0 ? ',' : ''}${isArray ? '' : `${JSON.stringify(key)}:`}`)
    await feed(sha, of[key], levels - 1)
  }
  sha.update(isArray ? ']' : '}')
}

/** `digest` in hexadecimal, as `sha256sum` prints it. */
export const hexDigest = (value: unknown): string => hash('sha256', canonicalText(value), 'hex')

/** JSON with sorted keys: equal values have equal texts. Array indexes come first, by number, as in any object. */
export const canonicalText = (value: unknown): string => JSON.stringify(sorted(value)) ?? ''

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  return Array.isArray(value) ? value.map(sorted) : inOrder(value, sorted)
}

/** An object with the members in their order, each as `read` gives it. */
function inOrder(object: object, read: (member: unknown) => unknown): Record<string, unknown> {
  const of = object as Record<string, unknown>
  const copy: Record<string, unknown> = {}
  // An assignment to this one would set the prototype.
  for (const key of Object.keys(of).sort())
    if (key === '__proto__') Object.defineProperty(copy, key, { value: read(of[key]), enumerable: true })
    else copy[key] = read(of[key])
  return copy
}
