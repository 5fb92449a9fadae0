/** The master key of the vault: from the settings, else from the data directory. */

import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Config, readMasterKeys } from './config/read-config.ts'
import { KEY_BYTES } from './foundation/units.ts'

/** Reads the master keys, the one that encrypts first. Makes one at the first start. */
export async function masterKeys({ dataDir, masterKeys: set }: Config): Promise<readonly Buffer[]> {
  if (set) return set
  const file = join(dataDir, 'master-key')
  const made = randomBytes(KEY_BYTES)
  try {
    await writeFile(file, `${made.toString('base64')}\n`, { mode: 0o600, flag: 'wx' })
    return [made]
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const kept = readMasterKeys(await readFile(file, 'utf8'))
  if (!kept)
    throw new Error(`${file} must hold a key of ${KEY_BYTES} bytes as base64. Restore it from a backup.`)
  return kept
}
