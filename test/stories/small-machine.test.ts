// @module-tag full
/** One core and 1 GiB of memory, without swap, are enough for server and PostgreSQL. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed, times } from '../support/answers.ts'
import { caller } from '../support/server.ts'
import { walkThroughReadme } from '../support/shell-examples.ts'
import { type SmallMachine, startSmall } from '../support/small-machine.ts'

const GIB = 1024 ** 3
const TOKEN = 'plt_administrator-of-a-small-machine'

let machine: SmallMachine | undefined
let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'plinth-small-'))
  const settings = { PLINTH_PORT: '0', PLINTH_ADMIN_TOKEN: TOKEN, PLINTH_DATA_DIR: join(directory, 'data') }
  machine = await startSmall(GIB, settings)
})
afterAll(async () => {
  await machine?.close()
  await rm(directory, { recursive: true, force: true })
})

test('one core and 1 GiB serve the README, a batch of 1,000 and a list of 1,000', {
  timeout: 600_000,
}, async ({ skip }) => {
  if (!machine) return skip('this process may make no group with a limit of memory')
  await walkThroughReadme({ url: machine.url, token: TOKEN, directory })
  const call = caller(machine.url, TOKEN)
  succeed(await call('PUT', '/v1/bases/small', {}), 201)
  const properties = { title: { type: 'string' }, size: { type: 'integer' } }
  const indexes = [{ fields: ['data.size'] }]
  succeed(await call('PUT', '/v1/small/record-types/item', { json_schema: { properties }, indexes }), 201)
  const operations = times(1000, (n) => ({
    type: 'upsert_record',
    record_type: 'item',
    id: `i${n}`,
    data: { title: `Item ${n} ${'of some length '.repeat(60)}`, size: n },
  }))
  succeed(await call('POST', '/v1/small/batch', { operations }))
  const list = succeed(await call('GET', '/v1/small/records/item?limit=1000&sort=-data.size'))
  expect(list.data).toHaveLength(1000)
  expect(list.data[0].data.size).toBe(999)
  expect(machine.killed(), 'processes that the kernel ended').toBe(0)
  expect(machine.most()).toBeLessThan(GIB)
})
