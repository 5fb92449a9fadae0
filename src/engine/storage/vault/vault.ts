/** The vault: encrypts secrets for storage, and opens them for the server's own use. */

import { createHmac, timingSafeEqual } from 'node:crypto'
import { digest } from '../../../contract/canonical-hash.ts'
import { oneFault } from '../../../foundation/errors.ts'
import type { InfoLog } from '../../../foundation/log.ts'
import { type Db, statement } from '../database/client.ts'
import { decrypt, encrypt, type MasterKey, masterKey, prefixOf, readEnvelope, rewrap } from './envelope.ts'

export type Vault = {
  /**
   * Encrypts a secret. It can be decrypted only at the place that it is bound to, so a copied row is useless.
   * @throws INTERNAL_ERROR if the database has secrets under another master key
   */
  seal(boundTo: readonly string[], secret: string): string
  /** Opens a secret; undefined if it is bound to another place, or encrypted under another master key. */
  open(boundTo: readonly string[], sealed: string): string | undefined
  /** Encrypts the data key of a secret under the current master key; undefined if this process cannot open it. */
  rewrap(sealed: string): string | undefined
  /** A hash of a text under the current master key. */
  fingerprint(text: string): string
  /** Whether `stored` is the fingerprint of the text; undefined if this process does not have its master key. */
  isFingerprintOf(text: string, stored: string): boolean | undefined
  /** What a secret under the current master key begins with. */
  readonly currentPrefix: string
  /** The same of all master keys of this process. */
  readonly prefixes: readonly string[]
  /** The id of the current master key. It reveals nothing about the key. */
  readonly keyId: string
  /** Whether this process has the master key of the database. */
  readonly isUsable: boolean
}

// The first process that opens the database decides which master key it has.
const KEEP_KEY_ID = statement(
  'keep_master_key_id',
  `INSERT INTO plinth.server_secret (purpose, value) VALUES ('master-key', convert_to($1, 'UTF8')) ON CONFLICT DO NOTHING`,
)
const SET_KEY_ID = statement(
  'set_master_key_id',
  `UPDATE plinth.server_secret SET value = convert_to($1, 'UTF8') WHERE purpose = 'master-key'`,
)
const KEY_ID = statement(
  'master_key_id',
  `SELECT convert_from(value, 'UTF8') AS id FROM plinth.server_secret WHERE purpose = 'master-key'`,
)

/** Opens the vault with the master keys of this process: the first one encrypts, all of them decrypt. */
export async function openVault(db: Db, keys: readonly Buffer[], log: InfoLog): Promise<Vault> {
  const masters = keys.map(masterKey)
  const [current] = masters
  if (!current) throw new Error('The vault needs a master key')
  await db.query(KEEP_KEY_ID, [current.id])
  const [known] = await db.query<{ id: string }>(KEY_ID, [])
  const isUsable = masters.some(({ id }) => id === known?.id)
  if (!isUsable)
    log.warn(
      {},
      'the secrets of this database are encrypted under another master key: set PLINTH_MASTER_KEY to it. Until then this process can neither store nor use secrets',
    )
  return vaultOf(masters, current, isUsable)
}

function vaultOf(masters: readonly MasterKey[], current: MasterKey, isUsable: boolean): Vault {
  return {
    isUsable,
    seal: (boundTo, secret) => {
      if (!isUsable) throw otherMasterKey()
      return encrypt(current, digest(boundTo), secret)
    },
    open: (boundTo, sealed) => {
      const envelope = readEnvelope(sealed)
      const master = envelope && masters.find(({ id }) => id === envelope.keyId)
      return master && decrypt(master, digest(boundTo), envelope)
    },
    rewrap: (sealed) => {
      const envelope = readEnvelope(sealed)
      const master = envelope && masters.find(({ id }) => id === envelope.keyId)
      return master && rewrap(master, current, envelope)
    },
    fingerprint: (text) => fingerprint(current, text),
    isFingerprintOf: (text, stored) => isFingerprintOf(masters, text, stored),
    currentPrefix: prefixOf(current),
    prefixes: masters.map(prefixOf),
    keyId: current.id,
  }
}

/** Makes the current master key of this process that of the database. */
export async function keepKeyId(db: Db, { keyId }: Vault): Promise<void> {
  await db.query(SET_KEY_ID, [keyId])
}

export const otherMasterKey = () =>
  oneFault('INTERNAL_ERROR', 'This server does not have the master key of the database.', {
    path: '',
    code: 'other_master_key',
    message: 'Nothing was stored. The operator sets PLINTH_MASTER_KEY to the key of the database.',
  })

// Keyed hashes: who reads one in the database cannot test guesses of what was hashed.

const FORMAT = 'h1'

/** The keyed hash of a text: `h1.<id of the master key>.<HMAC-SHA256>`. */
const fingerprint = ({ id, key }: MasterKey, text: string): string => [FORMAT, id, mac(key, text)].join('.')

/** Whether a stored hash is that of the text; undefined if it was made under a master key that is not given. */
function isFingerprintOf(masters: readonly MasterKey[], text: string, stored: string): boolean | undefined {
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
