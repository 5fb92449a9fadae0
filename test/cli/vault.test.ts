/** The commands of the vault. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStored } from '../support/vault.ts'
import { openWorld, type World } from '../support/world.ts'
import { plinth } from './plinth.ts'

let world: World
let folder: string
beforeAll(async () => {
  world = await openWorld()
  await world.call('PUT', '/v1/crm/record-types/note', {})
  folder = await mkdtemp(join(tmpdir(), 'plinth-vault-'))
})
afterAll(async () => {
  await world.close()
  await rm(folder, { recursive: true })
})

const vault = (args: readonly string[], input = '') =>
  plinth(['vault', ...args], { PLINTH_URL: world.url, PLINTH_TOKEN: world.adminToken }, input)
const stored = async (name: string): Promise<string> => {
  const [row] = await world.database.query<{ value: string }>(
    'SELECT value FROM plinth.secret WHERE id = $1',
    [name],
  )
  return openStored(world, ['secret', name], row?.value ?? '')
}

test('a value is read from a file or standard input, and no command shows it', { tags: 'full' }, async () => {
  await writeFile(join(folder, 'key'), 'of a file\n')
  const runs = [
    await vault([
      'put',
      'KEY',
      '--value',
      `@${join(folder, 'key')}`,
      '--bases',
      'crm,crm--*',
      '--description',
      'a key',
    ]),
    await vault(['put', 'PIPED', '--value', '-', '--json'], 'two\nlines\r\n'),
    await vault(['list']),
    await vault(['get', 'KEY', '--json']),
  ]
  expect(runs.map(({ code, err }) => [code, err])).toEqual(runs.map(() => [0, '']))
  expect(await stored('KEY')).toBe('of a file')
  expect(await stored('PIPED')).toBe('two\nlines')
  expect(JSON.parse(runs[3]?.out ?? '')).toMatchObject({ bases: ['crm', 'crm--*'], description: 'a key' })
  for (const { out } of runs) expect(out).not.toMatch(/of a file|two/)
  expect(await vault(['delete', 'KEY', '--if-match', '1'])).toMatchObject({ code: 0 })
  expect((await vault(['get', 'KEY'])).err).toContain('NOT_FOUND')
})

test('a value as an argument is refused, because others could see it', async () => {
  const refused = await vault(['put', 'SEEN', '--value', 'k-123'])
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('standard input') })
  expect(refused.err).not.toContain('k-123')
  expect((await vault(['get', 'SEEN'])).code).toBe(1)
})

test.each([
  ['trigger', ['--target', 'https://example.com/']],
  ['inbound-webhook', ['--record-type', 'note']],
])('the secret of a %s comes from standard input, and never from an argument', async (noun, options) => {
  const run = (secret: string, input = '') =>
    plinth(
      [noun, 'put', 'signed', ...options, '--base', 'crm', '--secret', secret, '--json'],
      { PLINTH_URL: world.url, PLINTH_TOKEN: world.adminToken },
      input,
    )
  const secret = `whsec_${Buffer.from('0123456789abcdef01234567').toString('base64')}`
  const refused = await run(secret)
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('standard input') })
  expect(refused.err).not.toContain(secret)
  const made = await run('-', `${secret}\n`)
  expect([made.code, made.err]).toEqual([0, ''])
  expect(JSON.parse(made.out)).toMatchObject({ version: 1, secret: '<redacted>' })
  expect(made.out).not.toContain(secret)
})

test('a rotation says what it did', async () => {
  const { code, out } = await vault(['rotate', '--json'])
  expect([code, JSON.parse(out)]).toEqual([0, { key_id: expect.any(String), rewrapped: 0, unreadable: 0 }])
})
