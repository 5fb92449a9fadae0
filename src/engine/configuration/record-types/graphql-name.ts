import { createHash } from 'node:crypto'

/** Names of the schema itself, in lower case, and one that would hide a type of TypeScript in generated clients. */
const RESERVED = new Set([
  'string',
  'int',
  'float',
  'boolean',
  'id',
  'datetime',
  'date',
  'json',
  'query',
  'mutation',
  'subscription',
  'pageinfo',
  'record',
  'node',
])
/** Endings of names that derive from those of types, such as `TicketConnection`. */
const DERIVED = /(records|aggregate|connection|edge|filter|changes)$/i

/**
 * Derives the name of a record type in the GraphQL schema of its base: `deal_item` → `DealItem`. Letters and
 * digits only, so that derived names with "_" never meet it. A hash of the id resolves clashes.
 */
export function chooseGraphqlName(id: string, isTaken: (name: string) => boolean): string {
  const isFree = (name: string) => !RESERVED.has(name.toLowerCase()) && !DERIVED.test(name) && !isTaken(name)
  const words = id.split(/[^A-Za-z0-9]+/).filter(Boolean)
  const joined = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
  const plain = /^[0-9]/.test(joined) ? `T${joined}` : joined
  if (isFree(plain)) return plain
  const hash = createHash('sha256').update(id).digest('hex')
  for (let chars = 6; chars <= hash.length; chars += 2) {
    const hashed = plain + hash.slice(0, chars)
    if (isFree(hashed)) return hashed
  }
  throw new Error(`No GraphQL name is free for ${id}`)
}
