/** PostgreSQL's maximum identifier length (NAMEDATALEN - 1), in bytes. */
const NAME_BYTES = 63

/** Truncates a name as PostgreSQL does: to 63 bytes, at a character boundary. */
export function nameOf(text: string): string {
  if (text.length <= NAME_BYTES / 3 || Buffer.byteLength(text) <= NAME_BYTES) return text
  let kept = ''
  let bytes = 0
  for (const character of text) {
    bytes += Buffer.byteLength(character)
    if (bytes > NAME_BYTES) break
    kept += character
  }
  return kept
}

/** Quotes an identifier. */
export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** Quotes a string literal, independent of `standard_conforming_strings`. */
export function quoteText(text: string): string {
  const quoted = `'${text.replaceAll("'", "''")}'`
  return text.includes('\\') ? `E${quoted.replaceAll('\\', '\\\\')}` : quoted
}
