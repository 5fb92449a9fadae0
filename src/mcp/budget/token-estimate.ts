export const BYTES_OF_TOKEN = 4

/** About how many tokens a value costs the model that reads it as JSON: UTF-8 bytes / 4. */
export function estimateTokens(value: unknown): number {
  return Math.ceil(Buffer.byteLength(JSON.stringify(value) ?? '') / BYTES_OF_TOKEN)
}
