/** The least string, by code point, above all that start with the text; undefined when there is none. */
export function successor(text: string): string | undefined {
  const points = [...text].map((char) => char.codePointAt(0) ?? 0)
  while (points.at(-1) === 0x10ffff) points.pop()
  const last = points.pop()
  if (last === undefined) return undefined
  // Surrogates are no characters of their own.
  return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1)
}
