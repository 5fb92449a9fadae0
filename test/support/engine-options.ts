import { randomBytes } from 'node:crypto'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EngineOptions } from '../../src/engine/engine.ts'
import { readPrivateHosts } from '../../src/foundation/egress/allowed-addresses.ts'
import type { World } from './world.ts'

/** Options of another engine on the world's database. */
export const engineOptions = async (world: World): Promise<EngineOptions> => ({
  connectionString: world.database.url,
  adminToken: { token: world.adminToken, from: 'settings', former: undefined, remember() {}, replace() {} },
  blobs: { driver: 'file', directory: await mkdtemp(join(tmpdir(), 'plinth-blobs-')), isShared: false },
  masterKeys: [randomBytes(32)],
  privateHosts: readPrivateHosts(''),
  webhookScheduleMs: [1000],
  log: { info() {}, warn() {}, error() {} },
})
