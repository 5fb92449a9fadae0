// @module-tag full
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../support/until.ts'
import { openWorld, type World } from '../support/world.ts'
import { plinth, type Settings, start } from './plinth.ts'

let world: World
let settings: Settings
beforeAll(async () => {
  world = await openWorld()
  settings = { PLINTH_URL: world.url, PLINTH_TOKEN: world.adminToken, PLINTH_BASE: 'crm' }
})
afterAll(() => world.close())

const put = async (type: string, id: string) =>
  expect((await world.call('PUT', `/v1/crm/records/${type}/${id}`, { data: { n: 1 } })).status).toBe(201)

test('`changes` prints the log as a table, or as JSON with --json', async () => {
  const type = await world.newType()
  await put(type, 'a')
  await put(type, 'b')
  const shown = await plinth(['changes', '--record-type', type, '--limit', '1'], settings)
  expect(shown.code).toBe(0)
  expect(shown.out.split('\n')[1]).toMatch(
    new RegExp(`\tcreate\trecord\t${type}\ta\t1\tadmin \\(rest\\)\t-$`),
  )
  expect(shown.err).toMatch(/There are more: --after \d+/)
  const { out } = await plinth(['changes', '--record-type', type, '--json'], settings)
  expect(JSON.parse(out).data).toHaveLength(2)
  const wrong = await plinth(['changes', '--follow', '--limit', '1'], settings)
  expect(wrong.code).toBe(2)
  const refused = await plinth(['changes', '--follow', '--kind', 'recrd'], settings)
  expect(refused.code).toBe(1)
  expect(refused.err).toContain('hint: record')
  const part = await plinth(['changes', '--include', 'titels'], settings)
  expect([part.code, part.out, part.err]).toEqual([1, '', expect.stringContaining('--include')])
  const nothing = await plinth(['revert'], settings)
  const says = /^VALIDATION_ERROR: Nothing to send\. Pass \[seq\], or --request-id, --actor/
  expect([nothing.code, nothing.out, nothing.err]).toEqual([2, '', expect.stringMatching(says)])
})

test('`changes` shows what changed, on a terminal with local times and uncut', async () => {
  const type = await world.newType()
  const path = `/v1/crm/records/${type}/t2`
  for (const data of [
    { priority: 'normal', gone: 1 },
    { priority: 'high', due: 'to, morrow' },
  ])
    await world.call('PUT', path, { data })
  const asked = ['changes', '--record-type', type]
  const piped = await plinth(asked, settings)
  expect(piped.out).toMatch(
    /\tgone: 1 → -, priority: normal → high, due: - → "to, morrow"\n$|priority: normal → high/,
  )
  const { out } = await plinth(asked, settings, '', { columns: 80 })
  const [made, changed] = out.split('\n')
  expect(made).toMatch(new RegExp(`^\\d+  \\d\\d:\\d\\d:\\d\\d  admin \\(rest\\)  create ${type} t2$`))
  expect(changed).toMatch(
    new RegExp(`  \\d\\d:\\d\\d:\\d\\d  admin \\(rest\\)  update ${type} t2  .*priority: normal → high`),
  )
  expect(changed).toContain('gone: 1 → -')
  expect(changed).toContain('due: - → "to, morrow"')
  const json = await plinth([...asked, '--json'], settings)
  expect(json.out).not.toContain('"before"')
  const tables = await plinth([...asked, '--group', 'request'], settings, '', { columns: 80 })
  expect(tables.out.split('\n')[1]).toMatch(/ \d\d:\d\d:\d\d /)
})

test('`changes` lists the newest first, and one line per request', async () => {
  const type = await world.newType()
  await put(type, 'a')
  await put(type, 'b')
  const newest = await plinth(['changes', '--record-type', type, '--order', 'desc', '--limit', '1'], settings)
  expect(newest.out.split('\n')[1]).toMatch(new RegExp(`\t${type}\tb\t`))
  expect(newest.err).toMatch(/There are more: --before \d+/)
  const grouped = await plinth(['changes', '--record-type', type, '--group', 'request'], settings)
  expect(grouped.code, grouped.err).toBe(0)
  expect(grouped.out.split('\n')).toHaveLength(4)
  expect(grouped.out).toContain(`1 create ${type}`)
})

test('`changes --follow` prints one entry per line as changes are written', { tags: 'full' }, async () => {
  const type = await world.newType()
  await put(type, 'first')
  const child = start(['changes', '--follow', '--json', '--after', '0', '--record-type', type], settings)
  let out = ''
  const lines = (count: number) =>
    new Promise<string[]>((resolve) => {
      const look = () => {
        const whole = out.split('\n').slice(0, -1)
        if (whole.length >= count) resolve(whole)
      }
      child.stdout.on('data', look)
      look()
    })
  child.stdout.prependListener('data', (chunk: Buffer) => {
    out += chunk
  })
  await lines(1)
  await put(type, 'second')
  const ids = (await lines(2)).map((line) => JSON.parse(line).id)
  child.kill()
  expect(ids).toEqual(['first', 'second'])
})

test('`revert` undoes a change, and `record get --version` and `query --as-of` show earlier versions', async () => {
  const type = await world.newType()
  const path = `/v1/crm/records/${type}/a`
  for (const n of [1, 2]) await world.call('PUT', path, { data: { n } })
  const log = await plinth(['changes', '--record-type', type, '--json'], settings)
  const { seq, at } = JSON.parse(log.out).data[1]
  const shown = async (...args: string[]) => JSON.parse((await plinth([...args, '--json'], settings)).out)
  expect(await shown('revert', `${seq}`, '--dry-run')).toMatchObject({ operation: 'update', dry_run: true })
  expect(await shown('revert', `${seq}`)).toMatchObject({ cause: `${seq}`, version: 3 })
  expect(await shown('record', 'get', type, 'a')).toMatchObject({ data: { n: 1 }, version: 3 })
  expect(await shown('record', 'get', type, 'a', '--version', '2')).toMatchObject({ data: { n: 2 } })
  expect(await shown('query', type, '--as-of', at)).toMatchObject({ data: [{ data: { n: 2 } }] })
  const again = await plinth(['revert', `${seq}`], settings)
  expect(again).toMatchObject({ code: 1, err: expect.stringContaining('or pass --force to revert') })
})

test('`revert --request-id` undoes a request, and shows the plan with --dry-run', async () => {
  const type = await world.newType()
  const headers = { 'x-request-id': 'cli-undo' }
  await world.call('PUT', `/v1/crm/records/${type}/a`, { data: { n: 1 } }, headers)
  const recent = await plinth(['changes', '--record-type', type, '--since', '1h', '--json'], settings)
  expect(JSON.parse(recent.out).data).toMatchObject([{ request_id: 'cli-undo' }])
  const wrong = await plinth(['changes', '--since', 'soon'], settings)
  expect(wrong.err).toContain('or an age such as 90m, 2h or 7d.')
  const plan = await plinth(['revert', '--request-id', 'cli-undo', '--dry-run'], settings)
  expect(plan.code, plan.err).toBe(0)
  expect(plan.out).toContain(`delete\trecord\t${type}\ta`)
  expect(plan.err).toContain('1 would be reverted')
  const done = await plinth(['revert', '--request-id', 'cli-undo'], settings)
  expect(done.err).toContain('1 reverted')
  expect((await world.call('GET', `/v1/crm/records/${type}/a`)).status).toBe(404)
  const nothing = await plinth(['revert', '--actor', 'x'], settings)
  expect(nothing.code).toBe(1)
  expect(nothing.err).toContain('since')
})

test('`trace` shows what caused a change and what it set off, oldest first', async () => {
  const type = await world.newType()
  await put(type, 'a')
  const { data } = (await world.call('GET', `/v1/crm/changes?record_type=${type}`)).body
  const reverted = await plinth(['revert', String(data[0].seq), '--json'], settings)
  const { seq } = JSON.parse(reverted.out)
  const { code, out } = await plinth(['trace', String(data[0].seq)], settings)
  expect(code).toBe(0)
  expect(
    out
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.split('\t').slice(0, 4)),
  ).toEqual([
    ['-1', 'request', data[0].request_id, '-'],
    ['0', 'change', String(data[0].seq), `create ${type} a`],
    ['1', 'change', String(seq), `delete ${type} a`],
  ])
  const near = await plinth(['trace', String(seq), '--depth', '1'], settings)
  expect(near.err).toContain('There are more steps.')
})

test('`revert --with-effects` also takes back what a trigger did, and says how much', async () => {
  const [ask, ticket] = [await world.newType(), await world.newType()]
  const steps = [{ name: 't', type: 'create_record', record_type: ticket, id: 't', data: {} }]
  await world.call('PUT', `/v1/crm/actions/do-${ask}`, { steps })
  // The deletion that takes it back would run the action again.
  const trigger = { record_types: [ask], events: ['create'], action: `do-${ask}` }
  await world.call('PUT', `/v1/crm/triggers/on-${ask}`, trigger)
  const made = await world.call('PUT', `/v1/crm/records/${ask}/a`, { data: {} })
  const request = made.headers.get('x-request-id') ?? ''
  const status = async (type: string, id: string) =>
    (await world.call('GET', `/v1/crm/records/${type}/${id}`)).status
  await eventually(async () => (await status(ticket, 't')) === 200 || undefined)
  const undo = (...more: string[]) => plinth(['revert', '--request-id', request, ...more], settings)
  const dry = JSON.parse((await undo('--with-effects', '--dry-run', '--json')).out)
  expect(dry).toMatchObject({ count: 2, effects: { changes: 1, runs: [{ of: `do-${ask}` }] }, dry_run: true })
  expect(await status(ticket, 't')).toBe(200)
  expect((await undo('--with-effects')).code).toBe(0)
  expect([await status(ask, 'a'), await status(ticket, 't')]).toEqual([404, 404])
})

test('`revert` prints the new secret of what it brings back, once', async () => {
  const type = await world.newType()
  const one = '/v1/crm/inbound-webhooks/told'
  await world.call('PUT', one, { record_type: type, signature: { scheme: 'token' } })
  const request = (await world.call('DELETE', one)).headers.get('x-request-id') ?? ''
  const undo = (...more: string[]) => plinth(['revert', '--request-id', request, ...more], settings)
  expect((await undo('--dry-run')).out).not.toContain('whsec_')
  expect((await undo()).out).toMatch(/inbound_webhook\ttold\twhsec_/)
  expect((await undo()).out).not.toContain('whsec_')
})
