/** Names every client takes, for the properties of tool schemas. */
import { createHash } from 'node:crypto'

const NAME_CHARS = 64

/** A short text that stands for a name which cannot be published as it is. */
const shortHash = (name: string, chars: number) =>
  createHash('sha256').update(name).digest('hex').slice(0, chars)

/**
 * `name` with every character outside `allowed` (a character class) as `_`, hashed where it is too long
 * or `taken` has it already.
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
