/** Defaults that a type has from an import. */
import { digest } from '../../../contract/canonical-hash.ts'
import { isObject } from '../../../foundation/is-object.ts'

/**
 * Whether a default is one of the native definition that the type was imported from, which `display.source` keeps. If its own
 * schema refuses such a default, as many generators write `null` beside `"type": "string"`, it stays as an annotation.
 */
export function isImportedDefault(display: object): (value: unknown) => boolean {
  let imported: ReadonlySet<string> | undefined
  return (value) => {
    imported ??= new Set(defaultsIn(definitionIn(display)).map(digest))
    return imported.has(digest(value))
  }
}

function definitionIn(display: object): unknown {
  const { source } = display as { readonly source?: unknown }
  return isObject(source) && typeof source['provider'] === 'string' ? source['definition'] : undefined
}

function defaultsIn(definition: unknown): unknown[] {
  const found: unknown[] = []
  for (const open: unknown[] = [definition]; open.length > 0; ) {
    const value = open.pop()
    if (typeof value !== 'object' || value === null) continue
    for (const [key, member] of Object.entries(value)) (key === 'default' ? found : open).push(member)
  }
  return found
}
