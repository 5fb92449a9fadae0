// @module-tag full
/** The administrator's token across restarts of a server, and with several servers on one database. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { succeed } from '../../support/answers.ts'
import { cloneDatabase, type TestDatabase } from '../../support/database.ts'
import { openServer, type TestServer } from '../../support/server.ts'

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
  test('set to the same value at a restart changes nothing and logs no warning', {
    tags: 'full',
  }, async () => {
    for (let start = 0; start < 2; start++) {
      const server = await started(A)
      expect(await status(server, A)).toBe(200)
      expect(warnings(server)).toEqual([])
      await server.close()
    }
  })

  test('set to a new value revokes the former token on all servers, keeps created tokens and logs a warning', {
    tags: 'full',
  }, async () => {
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

  test('revokes the token in the admin-token file, and the warning names that file', {
    tags: 'full',
  }, async () => {
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

  test('does not revoke admin tokens of other servers, or a created token that was written to the file', {
    tags: 'full',
  }, async () => {
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

describe('the token of the data directory', () => {
  let dir: string
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'plinth-own-token-'))
  })
  afterAll(() => rm(dir, { recursive: true, force: true }))
  const inFile = async (of = dir) => (await readFile(join(of, 'admin-token'), 'utf8')).trim()
  const marked = async (server: TestServer, token: string) =>
    succeed(await server.as(token)('GET', '/v1/tokens?limit=1000'))
      .data.filter((each: { used_by_server: boolean }) => each.used_by_server)
      .map(({ masked }: { masked: string }) => masked)

  test('is revoked by a start without its file, which leaves those of other data directories alone', {
    tags: 'full',
  }, async () => {
    const elsewhere = await mkdtemp(join(tmpdir(), 'plinth-elsewhere-'))
    const other = await started('', elsewhere)
    const theirs = await inFile(elsewhere)
    const first = await started('', dir)
    const former = await inFile()
    expect(await marked(first, former)).toEqual([`plt_…${former.slice(-4)}`])
    await first.close()
    await rm(join(dir, 'admin-token'))
    const second = await started('', dir)
    const now = await inFile()
    expect([await status(second, former), await status(second, now), await status(second, theirs)]).toEqual([
      401, 200, 200,
    ])
    const said = warnings(second).join('\n')
    expect(said).toContain('the former token was revoked')
    expect(said).toContain('plinth token revoke <id>')
    expect(said).not.toContain(former)
    await second.close()
    const third = await started('', dir)
    expect([await status(third, now), await status(third, theirs)]).toEqual([200, 200])
    expect(await marked(third, now)).toEqual([`plt_…${now.slice(-4)}`])
    await third.close()
    await other.close()
    await rm(elsewhere, { recursive: true, force: true })
  })

  test('is replaced on a running server, which answers the new one once and revokes the former everywhere', {
    tags: 'full',
  }, async () => {
    const server = await started('', dir)
    const other = await openServer({}, database)
    const former = await inFile()
    const call = server.as(former)
    const dry = succeed(await call('POST', '/v1/tokens/rotate-admin?dry_run=true'))
    expect([dry.token, dry.dry_run, await inFile(), await status(server, former)]).toEqual([
      null,
      true,
      former,
      200,
    ])
    const { token, masked, used_by_server } = succeed(await call('POST', '/v1/tokens/rotate-admin'))
    expect([await inFile(), used_by_server]).toEqual([token, true])
    expect([await status(server, former), await status(server, token)]).toEqual([401, 200])
    await expect.poll(() => status(other, former)).toBe(401)
    expect(await marked(server, token)).toEqual([masked])
    expect(server.log.join('\n')).not.toContain(token)
    await server.close()
    const again = await started('', dir)
    expect([await status(again, token), await status(again, former)]).toEqual([200, 401])
    expect(
      warnings(again).filter((line) => /revoked/.test(line) && !/that other starts made/.test(line)),
    ).toEqual([])
    await again.close()
    await other.close()
  })

  test('of two rotations at once, one makes the token and the other is refused', {
    tags: 'full',
  }, async () => {
    const server = await started('', dir)
    const admin = succeed(
      await server.as(await inFile())('POST', '/v1/tokens', { name: 'second', grants: [ADMIN] }),
      201,
    )
    for (let round = 0; round < 10; round++) {
      const answers = await Promise.all(
        [1, 2, 3].map(() => server.as(admin.token)('POST', '/v1/tokens/rotate-admin')),
      )
      const made = answers.filter(({ status }) => status === 200).map(({ body }) => body.token)
      expect(made.length).toBeGreaterThan(0)
      for (const { status, body } of answers)
        if (status !== 200) expect(body.error.details[0].code).toBe('rotated_meanwhile')
      const valid = await Promise.all(made.map(async (each) => (await status(server, each)) === 200))
      expect(valid.filter(Boolean)).toHaveLength(1)
      expect(made[valid.indexOf(true)]).toBe(await inFile())
    }
    await server.close()
  })

  test('needs admin on all bases to be replaced, and is not replaced where the settings define it', async () => {
    const server = await started(A)
    succeed(await server.as(A)('PUT', '/v1/bases/one', {}), 201)
    const grants = [{ ...ADMIN, base: 'one' }]
    const { token } = succeed(await server.as(A)('POST', '/v1/tokens', { name: 'of one', grants }), 201)
    const refused = await server.as(token)('POST', '/v1/tokens/rotate-admin')
    expect([refused.status, refused.body.error.code]).toEqual([403, 'FORBIDDEN'])
    const set = await server.as(A)('POST', '/v1/tokens/rotate-admin')
    expect([set.status, set.body.error.details[0].code]).toEqual([409, 'token_of_settings'])
    expect(await status(server, A)).toBe(200)
    await server.close()
  })
})
