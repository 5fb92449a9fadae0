/** Envelope encryption: a data key encrypts each secret, and a master key encrypts the data keys. */

import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto'
import { KEY_BYTES, NONCE_BYTES, TAG_BYTES } from '../../../foundation/units.ts'

const CIPHER = 'aes-256-gcm'
const FORMAT = 'v1'

/** A master key. Its id is in each envelope and reveals nothing about the key. */
export type MasterKey = { readonly id: string; readonly key: Buffer }

export const masterKey = (key: Buffer): MasterKey => ({
  id: hash('sha256', Buffer.concat([Buffer.from('plinth master key '), key]), 'hex').slice(0, 16),
  key,
})

/** An encrypted secret as text: `v1.<id of the master key>.<wrapped data key>.<encrypted text>`. */
type Envelope = { readonly keyId: string; readonly wrapped: string; readonly sealed: string }

export function readEnvelope(text: string): Envelope | undefined {
  const [format, keyId, wrapped, sealed, ...more] = text.split('.')
  const isWhole = format === FORMAT && keyId && wrapped && sealed && more.length === 0
  return isWhole ? { keyId, wrapped, sealed } : undefined
}

/** What a secret under the master key begins with. */
export const prefixOf = ({ id }: MasterKey): string => `${FORMAT}.${id}.`

const writeEnvelope = ({ keyId, wrapped, sealed }: Envelope): string =>
  [FORMAT, keyId, wrapped, sealed].join('.')

/** Encrypts a text under a new data key. It opens only with the same `boundTo`. */
export function encrypt(master: MasterKey, boundTo: string, text: string): string {
  const dataKey = randomBytes(KEY_BYTES)
  return writeEnvelope({
    keyId: master.id,
    wrapped: wrap(master, dataKey),
    sealed: lock(dataKey, boundTo, Buffer.from(text)),
  })
}

/** Decrypts; undefined if the master key or `boundTo` is another one. */
export function decrypt(master: MasterKey, boundTo: string, envelope: Envelope): string | undefined {
  const dataKey = unlock(master.key, DATA_KEY, envelope.wrapped)
  return dataKey && unlock(dataKey, boundTo, envelope.sealed)?.toString()
}

/** Encrypts the data key under another master key; undefined if `from` is not the one that it is encrypted under. */
export function rewrap(from: MasterKey, to: MasterKey, envelope: Envelope): string | undefined {
  const dataKey = unlock(from.key, DATA_KEY, envelope.wrapped)
  return dataKey && writeEnvelope({ ...envelope, keyId: to.id, wrapped: wrap(to, dataKey) })
}

const DATA_KEY = 'data key'
const wrap = ({ key }: MasterKey, dataKey: Buffer): string => lock(key, DATA_KEY, dataKey)

function lock(key: Buffer, boundTo: string, plain: Buffer): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(boundTo))
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]).toString(
    'base64url',
  )
}

function unlock(key: Buffer, boundTo: string, text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES))
    .setAAD(Buffer.from(boundTo))
    .setAuthTag(bytes.subarray(-TAG_BYTES))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()])
  } catch {
    return undefined
  }
}
