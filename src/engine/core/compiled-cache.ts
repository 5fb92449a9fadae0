import { LRUCache } from 'lru-cache'
import type { ResourceKind } from './append-change.ts'
import type { Caches } from './caches.ts'
import type { Scope } from './scope.ts'

/** Configuration prepared for requests, by base (`crm`) or by resource (`crm/deal`). */
export type CompiledCache<V> = {
  /** From the cache, else from the database. */
  get(scope: Scope, key: string): Promise<V | undefined>
  /** From the cache alone; undefined if it is not there. */
  cached(scope: Pick<Scope, 'caches'>, key: string): V | undefined
  /** From the database. Replaces the cached value. */
  reload(scope: Scope, key: string): Promise<V | undefined>
}

type Options<V> = {
  readonly max: number
  /** Size of all entries, in characters of the JSON that they are made of. */
  readonly maxChars?: number
  charsOf?(value: V): number
  /** Whether an entry is all of a base or one resource. */
  readonly per: 'base' | 'resource'
  /** The kinds of configuration that an entry is made of. A change of one drops it. */
  readonly from: readonly ResourceKind[]
  /** Reads and compiles. `former` is the value it replaces, for parts that did not change. */
  load(scope: Scope, key: string, former: V | undefined): Promise<V | undefined>
}

/** Declares a cache of compiled configuration. Each engine has its own entries. */
export function compiledCache<V extends object>({
  max,
  per,
  from,
  load,
  maxChars,
  charsOf,
}: Options<V>): CompiledCache<V> {
  const opened = new WeakMap<Caches, LRUCache<string, V>>()
  const kinds: ReadonlySet<string> = new Set(from)

  const entriesOf = (caches: Caches): LRUCache<string, V> => {
    const known = opened.get(caches)
    if (known) return known
    const entries = new LRUCache<string, V>({
      max,
      ...(maxChars !== undefined && { maxSize: maxChars, sizeCalculation: (value) => charsOf?.(value) || 1 }),
    })
    opened.set(caches, entries)
    caches.join({
      clear: () => entries.clear(),
      forget(kind, key) {
        if (kinds.has(kind)) entries.delete(per === 'base' ? baseOf(key) : key)
        if (kind === 'base') for (const each of entries.keys()) if (baseOf(each) === key) entries.delete(each)
      },
    })
    return entries
  }
  const reload = async (scope: Scope, key: string): Promise<V | undefined> => {
    const { caches, db } = scope
    const entries = entriesOf(caches)
    const before = caches.forgotten()
    const value = await load(scope, key, entries.get(key))
    // What is read by it must not come from a standby that does not have it yet: its indexes are not whole there.
    if (value && !db.isTransaction) caches.newest.at = performance.now()
    // State read in a transaction may be uncommitted, so it is not cached.
    const isCacheable = !db.isTransaction && caches.forgotten() === before
    if (value && isCacheable) entries.set(key, value)
    return value
  }
  const cached = ({ caches }: Pick<Scope, 'caches'>, key: string): V | undefined =>
    caches.live() ? entriesOf(caches).get(key) : undefined
  return {
    reload,
    cached,
    get: async (scope, key) => cached(scope, key) ?? reload(scope, key),
  }
}

const baseOf = (key: string): string => key.split('/', 1)[0] ?? key
