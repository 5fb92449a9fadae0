import { invalid } from '../foundation/errors.ts'

// A field runs to the next comma that is not inside a quoted key.
const NAME = /(?:\["(?:[^"\\]|\\.)*"\]|[^,])+/gy

/** Splits `id,data.name,data["odd,key"]` at its commas. @throws VALIDATION_ERROR for an empty name */
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
