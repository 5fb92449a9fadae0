import { invalid } from '../foundation/errors.ts'

// A field ends at the next comma outside a quoted key.
const NAME = /(?:\["(?:[^"\\]|\\.)*"\]|[^,])+/gy

/**
 * Splits a comma-separated field list such as `id,data.name,data["odd,key"]`.
 * @throws VALIDATION_ERROR for an empty item
 */
export function splitNames(text: string, at: string): string[] {
  const names: string[] = []
  for (let from = 0; ; from = NAME.lastIndex + 1) {
    NAME.lastIndex = from
    const found = NAME.exec(text)
    if (!found)
      throw invalid({
        path: at,
        code: 'invalid_field',
        message: 'An item of the comma-separated list is empty. Remove the extra comma.',
      })
    names.push(found[0])
    if (NAME.lastIndex >= text.length) return names
  }
}
