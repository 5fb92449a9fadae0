export const BYTES_OF_TOKEN = 4

/** Estimates the tokens of a value as JSON: UTF-8 bytes / 4. */
export function estimateTokens(value: unknown): number {
  return Math.ceil(Buffer.byteLength(JSON.stringify(value) ?? '') / BYTES_OF_TOKEN)
}
