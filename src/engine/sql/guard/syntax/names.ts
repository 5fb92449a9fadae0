/** PostgreSQL keeps this many bytes of a name. */
const NAME_BYTES = 63

/** A name as PostgreSQL keeps it: its first 63 bytes, cut between characters. */
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

/** A name in SQL text. */
export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** A string in SQL text, whatever `standard_conforming_strings` says. */
export function quoteText(text: string): string {
  const quoted = `'${text.replaceAll("'", "''")}'`
  return text.includes('\\') ? `E${quoted.replaceAll('\\', '\\\\')}` : quoted
}
