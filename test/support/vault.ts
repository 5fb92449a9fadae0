import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { digest } from '../../src/contract/canonical-hash.ts'
import { decrypt, masterKey, readEnvelope } from '../../src/engine/storage/vault/envelope.ts'
import type { TestServer } from './server.ts'

/** Opens a secret as it is stored, with the master key in the data directory of the server. */
export async function openStored(
  server: TestServer,
  boundTo: readonly string[],
  sealed: string,
): Promise<string> {
  const key = Buffer.from(await readFile(join(server.dataDir, 'master-key'), 'utf8'), 'base64')
  const envelope = readEnvelope(sealed)
  const secret = envelope && decrypt(masterKey(key), digest(boundTo), envelope)
  if (secret === undefined) throw new Error('The secret cannot be opened at this place')
  return secret
}
