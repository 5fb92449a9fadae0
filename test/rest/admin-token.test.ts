/** The administrator's token across restarts of a server, and with several servers on one database. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { cloneDatabase, type TestDatabase } from '../support/database.ts'
import { openServer, type TestServer } from '../support/server.ts'

const [A, B] = ['plt_configured-first-000000000000', 'plt_configured-second-00000000000']
const ADMIN = { base: '*', record_type: '*', environment: '*', permission: 'admin' }

let database: TestDatabase
let dataDir: string
beforeAll(async () => {
  database = await cloneDatabase()
  dataDir = await mkdtemp(join(tmpdir(), 'plinth-tokens-'))
})
afterAll(async () => {
  await database.drop()
  await rm(dataDir, { recursive: true, force: true })
})

/** Starts a server with this administrator's token; an empty value means that none is configured. */
const started = (token: string, dir = dataDir): Promise<TestServer> =>
  openServer({ PLINTH_ADMIN_TOKEN: token, PLINTH_DATA_DIR: dir }, database)
const warnings = ({ log }: TestServer) =>
  log.filter((line) => /PLINTH_ADMIN_TOKEN|admin-token|of an administrator/.test(line))
const status = async (server: TestServer, token: string) =>
  (await server.as(token)('GET', '/v1/tokens')).status

describe('PLINTH_ADMIN_TOKEN', () => {
  test('set to the same value at a restart changes nothing and logs no warning', async () => {
    for (let start = 0; start < 2; start++) {
      const server = await started(A)
      expect(await status(server, A)).toBe(200)
      expect(warnings(server)).toEqual([])
      await server.close()
    }
  })

  test('set to a new value revokes the former token on all servers, keeps created tokens and logs a warning', async () => {
    const other = await started(A)
    const { token: made } = succeed(
      await other.as(A)('POST', '/v1/tokens', { name: 'made', grants: [ADMIN] }),
      201,
    )
    const { id } = succeed(await other.as(A)('GET', '/v1/tokens?limit=1000')).data.find(
      ({ name }: { name: string }) => name === 'admin',
    )
    const server = await started(B)
    expect([await status(server, A), await status(server, B), await status(server, made)]).toEqual([
      401, 200, 200,
    ])
    await expect.poll(() => status(other, A)).toBe(401)
    expect(warnings(server)).toHaveLength(1)
    expect(warnings(server)[0]).toContain(id)
    expect(warnings(server)[0]).not.toContain(A)
    const log = await database.query(
      `SELECT operation, actor_name, via FROM plinth.change WHERE kind = 'token' AND id = $1 ORDER BY seq`,
      [id],
    )
    expect(log.at(-1)).toEqual({ operation: 'delete', actor_name: 'system', via: 'system' })
    await other.close()
    await server.close()
  })

  test('revokes the token in the admin-token file, and the warning names that file', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'plinth-kept-'))
    const first = await openServer({ PLINTH_ADMIN_TOKEN: '', PLINTH_DATA_DIR: dir }, database)
    const kept = (await readFile(join(dir, 'admin-token'), 'utf8')).trim()
    expect([await status(first, kept), await status(first, B)]).toEqual([200, 200])
    await first.close()
    const second = await started(B, dir)
    expect([await status(second, kept), await status(second, B)]).toEqual([401, 200])
    const said = warnings(second).join('\n')
    expect(said).toContain(join(dir, 'admin-token'))
    expect(said).not.toContain(kept)
    await second.close()
    // Without the variable the server reads the file; the token in it stays revoked.
    const third = await openServer({ PLINTH_ADMIN_TOKEN: '', PLINTH_DATA_DIR: dir }, database)
    expect([await status(third, kept), await status(third, B)]).toEqual([401, 200])
    expect(warnings(third).join('\n')).toContain('is not valid')
    await third.close()
    await rm(dir, { recursive: true, force: true })
  })

  test('does not revoke admin tokens of other servers, or a created token that was written to the file', async () => {
    const own = await mkdtemp(join(tmpdir(), 'plinth-own-'))
    const theirs = await openServer({ PLINTH_ADMIN_TOKEN: '', PLINTH_DATA_DIR: own }, database)
    const kept = (await readFile(join(own, 'admin-token'), 'utf8')).trim()
    const { token: made } = succeed(
      await theirs.as(kept)('POST', '/v1/tokens', { name: 'put there', grants: [ADMIN] }),
      201,
    )
    await writeFile(join(dataDir, 'admin-token'), `${made}\n`)
    const server = await started(A)
    expect([await status(server, kept), await status(server, made), await status(server, B)]).toEqual([
      200, 200, 401,
    ])
    await server.close()
    await theirs.close()
    await rm(own, { recursive: true, force: true })
  })
})
