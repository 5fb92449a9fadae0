/** Keyed hashes: who reads one in the database cannot test guesses of what was hashed. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { MasterKey } from './envelope.ts'

const FORMAT = 'h1'

/** The keyed hash of a text: `h1.<id of the master key>.<HMAC-SHA256>`. */
export const fingerprint = ({ id, key }: MasterKey, text: string): string =>
  [FORMAT, id, mac(key, text)].join('.')

/** Whether a stored hash is that of the text; undefined if it was made under a master key that is not given. */
export function isFingerprintOf(
  masters: readonly MasterKey[],
  text: string,
  stored: string,
): boolean | undefined {
  const [format, keyId, ...rest] = stored.split('.')
  if (format !== FORMAT) return false
  const master = masters.find(({ id }) => id === keyId)
  return master && areEqual(rest.join('.'), mac(master.key, text))
}

/** Under a derived key: the master key itself encrypts data keys only. */
const mac = (key: Buffer, text: string): string =>
  createHmac('sha256', createHmac('sha256', key).update('plinth fingerprint').digest())
    .update(text)
    .digest('base64url')

const areEqual = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))
