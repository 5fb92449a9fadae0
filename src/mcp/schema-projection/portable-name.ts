/** Derives property names that every MCP client accepts. */
import { createHash } from 'node:crypto'

const NAME_CHARS = 64

/** A short hash that replaces a name, or the end of it. */
const shortHash = (name: string, chars: number) =>
  createHash('sha256').update(name).digest('hex').slice(0, chars)

/**
 * Replaces every character outside `allowed` (a character class) by `_`. Appends a hash if the name is too
 * long or `taken`.
 */
export function portableName(name: string, allowed: string, taken: (name: string) => boolean): string {
  const plain = name.replace(new RegExp(`[^${allowed}]`, 'gu'), '_')
  if (plain !== '' && plain.length <= NAME_CHARS && !taken(plain)) return plain
  if (plain === '' && !taken('_')) return '_'
  return hashedName(name, plain, taken)
}

function hashedName(name: string, plain: string, taken: (name: string) => boolean): string {
  for (let chars = 8; chars <= NAME_CHARS; chars += 4) {
    const hashed = `${plain.slice(0, NAME_CHARS - chars - 1)}_${shortHash(name, chars)}`.slice(-NAME_CHARS)
    if (!taken(hashed)) return hashed
  }
  throw new Error(`No free name for ${name}`)
}

export const PROPERTY_CHARACTERS = 'A-Za-z0-9_.\\-'
