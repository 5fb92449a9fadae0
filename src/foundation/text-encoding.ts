/** The bytes as text; null if they are no UTF-8 text. `isPart`: the last character may be cut. */
export function decodeText(bytes: Buffer, isPart = false): string | null {
  if (bytes.includes(0)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: isPart })
  } catch {
    return null
  }
}

/** A text as PostgreSQL can store it: U+FFFD in place of NUL characters and lone surrogates. */
export const storableText = (text: string): string => text.replaceAll('\0', '\u{fffd}').toWellFormed()
