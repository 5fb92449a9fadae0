/** Names every client takes: of tools, and of the properties in their schemas. */
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
const TOOL_CHARACTERS = 'A-Za-z0-9_\\-'

export type NamedType = { id: string; createdAt: string }

/**
 * The tool of each record type. Of two that would share a name the newcomer gets a hash, so a live tool
 * keeps its name; for that `types` must be all types of the base, not only those a token sees.
 */
export function toolNames(
  operation: 'create' | 'update',
  types: readonly NamedType[],
  reserved: ReadonlySet<string>,
): Map<string, string> {
  const taken = new Set(reserved)
  const names = new Map<string, string>()
  for (const { id } of [...types].sort(byAge)) {
    const name = portableName(`${operation}_${id}`, TOOL_CHARACTERS, (candidate) => taken.has(candidate))
    taken.add(name)
    names.set(id, name)
  }
  return names
}

function byAge(a: NamedType, b: NamedType): number {
  const [mine, theirs] = a.createdAt === b.createdAt ? [a.id, b.id] : [a.createdAt, b.createdAt]
  return mine < theirs ? -1 : mine > theirs ? 1 : 0
}
