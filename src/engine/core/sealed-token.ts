import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hash,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { digest } from '../../contract/canonical-hash.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { KEY_BYTES, NONCE_BYTES, TAG_BYTES } from '../../foundation/units.ts'
import { type Db, statement } from '../storage/database/client.ts'

/**
 * Key for sealing cursors. A KeyObject, because converting bytes on each use costs more
 * than the sealing.
 */
export type SealKey = { readonly cipher: KeyObject; readonly nonce: string }

export const sealKey = (secret: Buffer): SealKey => ({
  cipher: createSecretKey(secret),
  nonce: hash('sha256', secret, 'hex'),
})

const CIPHER = 'aes-256-gcm'

/** Digests of what tokens are bound to, by its text: the pages of a list, and the rows of a page, are bound to the same. */
const digests = new LRUCache<string, string>({
  max: LIMITS.boundDigests,
  maxSize: LIMITS.boundDigestsChars,
  sizeCalculation: (_, text) => text.length,
})

function boundDigest(boundTo: unknown): string {
  const text = JSON.stringify(boundTo)
  const known = digests.get(text)
  if (known !== undefined) return known
  const made = digest(boundTo)
  digests.set(text, made)
  return made
}

/**
 * Authenticated encryption of a text. It opens only with the same `boundTo`. Deterministic: equal texts have
 * equal seals.
 */
export function seal(key: SealKey, boundTo: unknown, text: string): string {
  const bound = boundDigest(boundTo)
  // Derive the nonce from the plaintext, so that it repeats only with the same plaintext.
  const nonce = hash('sha256', `${key.nonce}${bound}${text}`, 'buffer').subarray(0, NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, key.cipher, nonce).setAAD(Buffer.from(bound))
  const sealed = [cipher.update(text), cipher.final()]
  return Buffer.concat([nonce, ...sealed, cipher.getAuthTag()]).toString('base64url')
}

/** Decrypts a sealed text. Returns undefined if it was sealed with another key or another `boundTo`. */
export function unseal(key: SealKey, boundTo: unknown, sealed: string): string | undefined {
  const bytes = Buffer.from(sealed, 'base64url')
  // Node ignores invalid base64url characters, so require that the text round-trips.
  const isWhole = bytes.toString('base64url') === sealed
  if (!isWhole || bytes.length <= NONCE_BYTES + TAG_BYTES) return undefined
  const decipher = createDecipheriv(CIPHER, key.cipher, bytes.subarray(0, NONCE_BYTES))
    .setAAD(Buffer.from(boundDigest(boundTo)))
    .setAuthTag(bytes.subarray(-TAG_BYTES))
  try {
    const text = [decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]
    return Buffer.concat(text).toString()
  } catch {
    return undefined
  }
}

/** Seals a value that opens for some seconds. */
export const sealForTime = (key: SealKey, boundTo: unknown, value: unknown, seconds: number): string =>
  seal(key, boundTo, JSON.stringify({ value, until: Date.now() + seconds * 1000 }))

export function unsealInTime<Value>(key: SealKey, boundTo: unknown, sealed: string): Value | undefined {
  const { value, until } = JSON.parse(unseal(key, boundTo, sealed) ?? '{}') as {
    value?: Value
    until?: number
  }
  return until !== undefined && until > Date.now() ? value : undefined
}

/**
 * Purposes of the server's keys. The same table stores `admin-token`, the hash of the token last configured
 * in the settings.
 */
type Purpose = 'cursor' | 'link' | 's3' | 'store'

const KEEP = statement(
  'keep_secret',
  `WITH made AS (INSERT INTO plinth.server_secret (purpose, value) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING value)
   SELECT value FROM made UNION ALL SELECT value FROM plinth.server_secret WHERE purpose = $1 LIMIT 1`,
)

/** Returns the key for a purpose. Creates it on first use; all processes on one database share it. */
export async function serverSecret(db: Db, purpose: Purpose): Promise<Buffer> {
  for (;;) {
    const [row] = await db.query<{ value: Buffer }>(KEEP, [purpose, randomBytes(KEY_BYTES)])
    // After a race, the loser reads the winner's key with its next statement.
    if (row) return row.value
  }
}
