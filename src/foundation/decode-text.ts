/** The bytes as text; null if they are no UTF-8 text. `isPart`: the last character may be cut. */
export function decodeText(bytes: Buffer, isPart = false): string | null {
  if (bytes.includes(0)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: isPart })
  } catch {
    return null
  }
}
