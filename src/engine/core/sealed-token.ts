import { createCipheriv, createDecipheriv, createSecretKey, hash, type KeyObject } from 'node:crypto'
import { digest } from '../../contract/canonical-hash.ts'

/** What is handed out and taken back is sealed with. A key object: bytes would be made one at each use, which costs more than the sealing. */
export type SealKey = { readonly cipher: KeyObject; readonly nonce: string }

export const sealKey = (secret: Buffer): SealKey => ({
  cipher: createSecretKey(secret),
  nonce: hash('sha256', secret, 'hex'),
})

const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Seals a text. Opaque, and it opens only with what it is bound to. Equal texts have equal seals. */
export function seal(key: SealKey, boundTo: unknown, text: string): string {
  const bound = digest(boundTo)
  // A nonce of what is sealed comes again only with the same.
  const nonce = hash('sha256', `${key.nonce}${bound}${text}`, 'buffer').subarray(0, NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, key.cipher, nonce).setAAD(Buffer.from(bound))
  const sealed = [cipher.update(text), cipher.final()]
  return Buffer.concat([nonce, ...sealed, cipher.getAuthTag()]).toString('base64url')
}

/** The text that was sealed; undefined when it was not by this key, or bound to something else. */
export function unseal(key: SealKey, boundTo: unknown, sealed: string): string | undefined {
  const bytes = Buffer.from(sealed, 'base64url')
  // Node skips what is not base64url; what was sealed reads back the same.
  const isWhole = bytes.toString('base64url') === sealed
  if (!isWhole || bytes.length <= NONCE_BYTES + TAG_BYTES) return undefined
  const decipher = createDecipheriv(CIPHER, key.cipher, bytes.subarray(0, NONCE_BYTES))
    .setAAD(Buffer.from(digest(boundTo)))
    .setAuthTag(bytes.subarray(-TAG_BYTES))
  try {
    const text = [decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]
    return Buffer.concat(text).toString()
  } catch {
    return undefined
  }
}
