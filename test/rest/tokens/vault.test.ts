/** The vault: who manages secrets, where they can be used, and that no value ever shows. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectFailure, expectFault, succeed, TIME, UUID7 } from '../../support/answers.ts'
import { answering, openReceiver, type Receiver } from '../../support/receiver.ts'
import type { Body } from '../../support/server.ts'
import { eventually } from '../../support/until.ts'
import { openStored } from '../../support/vault.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let receiver: Receiver
let serial = 0
beforeAll(async () => {
  receiver = await openReceiver()
  world = await openWorld({ PLINTH_ALLOW_PRIVATE_TARGETS: '127.0.0.1', PLINTH_WEBHOOK_SCHEDULE: '0.05' })
  succeed(await world.call('PUT', '/v1/bases/erp', {}), 201)
  succeed(await world.call('PUT', '/v1/crm/record-types/note', {}), 201)
  succeed(await world.call('POST', '/v1/crm/preview', { name: 'try' }), 201)
})
afterAll(async () => {
  await world.close()
  await receiver.close()
})

const call: World['call'] = (...args) => world.call(...args)
const newName = () => `KEY_${++serial}`
const at = (name: string) => `/v1/vault/secrets/${name}`
const putSecret = async (name: string, body: object, status = 201): Promise<Body> =>
  succeed(await call('PUT', at(name), body), status)
const trigger = (id: string, headers: object, more: object = {}, base = 'crm') =>
  call('PUT', `/v1/${base}/triggers/${id}`, { url: `${receiver.url}/${id}`, headers, ...more })
/** Writes a record that a trigger sends, and waits for the end of its delivery. */
const delivered = async (id: string, matches: (delivery: Body) => boolean, base = 'crm'): Promise<Body> => {
  succeed(await call('PUT', `/v1/${base}/records/note/r${++serial}`, { data: {} }), 201)
  return eventually(async () =>
    succeed(await call('GET', `/v1/${base}/triggers/${id}/deliveries`)).data.find(matches),
  )
}
const has = (status: string) => (delivery: Body) => delivery.status === status

describe('a secret', () => {
  test('is put, read, listed, changed and deleted, without its value', { tags: 'full' }, async () => {
    const [name, value] = [newName(), 'sk-live-0123456789']
    const first = await call('PUT', at(name), { value, description: 'of the payments', bases: ['crm'] })
    expect(first.headers.get('location')).toBe(at(name))
    const made = succeed(first, 201)
    expect(made).toEqual({
      name,
      description: 'of the payments',
      bases: ['crm'],
      created_by: expect.stringMatching(UUID7),
      version: 1,
      created_at: expect.stringMatching(TIME),
      updated_at: expect.stringMatching(TIME),
    })
    const found = await call('GET', at(name))
    expect(succeed(found)).toEqual(made)
    const list = await call('GET', '/v1/vault/secrets?limit=1&include_total=true')
    expect(succeed(list)).toMatchObject({ data: [made], meta: { total: expect.any(Number) } })
    const changed = await call('PUT', at(name), { description: null })
    expect(succeed(changed)).toMatchObject({ description: null, bases: ['crm'], version: 2 })
    const again = await call('PUT', at(name), { value, description: null })
    expect(succeed(again)).toMatchObject({ version: 2 })
    expect(succeed(await call('PUT', at(name), { value: 'other' }))).toMatchObject({
      version: 3,
      bases: ['crm'],
    })
    const gone = await call('DELETE', at(name))
    expect(succeed(gone)).toEqual({ id: name, deleted: true })
    expectFailure(await call('DELETE', at(name)), 'NOT_FOUND')
    for (const { text } of [first, found, list, changed, again, gone]) expect(text).not.toContain(value)
    expect(await putSecret(name, { value })).toMatchObject({ version: 5, bases: ['*'] })
  })

  test('is stored encrypted and bound to its name, and neither log nor keys have its value', async () => {
    const [name, value] = [newName(), `canary-${randomBytes(8).toString('hex')}`]
    const headers = { 'idempotency-key': `k-${name}` }
    const first = await call('PUT', at(name), { value }, headers)
    const again = await call('PUT', at(name), { value }, headers)
    expect([again.status, again.body]).toEqual([201, first.body])
    const [row] = await world.database.query<{ value: string }>(
      'SELECT value FROM plinth.secret WHERE id = $1',
      [name],
    )
    expect(await openStored(world, ['secret', name], row?.value ?? '')).toBe(value)
    await expect(openStored(world, ['secret', 'other'], row?.value ?? '')).rejects.toThrow()
    succeed(await call('DELETE', at(name)))
    const log = await world.database.query<{ operation: string; version: number; data: object }>(
      "SELECT operation, version, data FROM plinth.change WHERE base_id = '' AND kind = 'secret' AND id = $1 ORDER BY seq",
      [name],
    )
    const data = { id: name, description: null, bases: ['*'] }
    expect(log).toEqual([
      { operation: 'create', version: 1, data },
      { operation: 'delete', version: 2, data },
    ])
    for (const table of ['change', 'secret', 'idempotency', 'plan']) {
      const rows = await world.database.query(`SELECT t::text AS text FROM plinth.${table} t`)
      expect(JSON.stringify(rows), table).not.toContain(value)
    }
    expect(world.log.join()).not.toContain(value)
  })

  test('has up to 64 KiB, and a fault never repeats the value', { tags: 'full' }, async () => {
    const largest = 'é'.repeat(32 * 1024)
    await putSecret(newName(), { value: largest })
    const large = await call('PUT', at(newName()), { value: `${largest}x` })
    expectFault(large, '/value')
    expect(large.text).not.toContain('éé')
    for (const value of ['', null, 17, ['canary'], { canary: 1 }]) {
      const refused = await call('PUT', at(newName()), { value })
      expectFault(refused, '/value')
      expect(refused.text).not.toContain('canary')
    }
    expectFault(await call('PUT', at(newName()), {}), '/value')
    const odd = await call('PUT', at(newName()), { value: 'canary', valeu: 'canary' })
    expectFault(odd, '/valeu')
    expect(odd.text).not.toContain('canary')
  })

  test.each(['%20', '-A', 'A B', 'A%2FB', 'é', '{{x}}', 'a'.repeat(65), "';--"])(
    'cannot have the name %s',
    async (name) => expectFailure(await call('PUT', at(name), { value: 'v' }), 'VALIDATION_ERROR'),
  )

  test('takes preconditions, and concurrent creations are one creation', { tags: 'full' }, async () => {
    const name = newName()
    expectFailure(await call('PUT', at(name), { value: 'v' }, { 'if-match': '"1"' }), 'NOT_FOUND')
    const raced = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        call('PUT', at(name), { value: `v${n}` }, { 'if-none-match': '*' }),
      ),
    )
    expect(raced.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)])
    expectFailure(await call('PUT', at(name), { value: 'w' }, { 'if-match': '"7"' }), 'CONFLICT')
    expectFailure(await call('DELETE', at(name), undefined, { 'if-match': '"7"' }), 'CONFLICT')
    expect(succeed(await call('PUT', at(name), { value: 'w' }, { 'if-match': '"1"' })).version).toBe(2)
    expect(succeed(await call('DELETE', `${at(name)}?dry_run=true`))).toMatchObject({ dry_run: true })
    succeed(await call('GET', at(name)))
  })
})

describe('the bases of a secret', () => {
  test('exist, and leave it when they are deleted', { tags: 'full' }, async () => {
    for (const bases of [['none'], ['none--*'], ['crm', 'crm--none']])
      expectFault(await call('PUT', at(newName()), { value: 'v', bases }), `/bases/${bases.length - 1}`)
    for (const bases of [[], ['CRM'], ['*--*'], ['crm--'], 'crm'])
      expectFailure(await call('PUT', at(newName()), { value: 'v', bases }), 'VALIDATION_ERROR')
    succeed(await call('PUT', '/v1/bases/gone', {}), 201)
    const [only, also] = [newName(), newName()]
    await putSecret(only, { value: 'v', bases: ['gone', 'gone--*'] })
    await putSecret(also, { value: 'v', bases: ['gone', 'crm'] })
    succeed(await call('DELETE', '/v1/bases/gone'))
    expect(succeed(await call('GET', at(only))).bases).toEqual([])
    expect(succeed(await call('GET', at(also))).bases).toEqual(['crm'])
    const { call: ofCrm } = await world.newToken([{ permission: 'admin' }])
    expectFailure(await ofCrm('GET', at(only)), 'FORBIDDEN')
  })

  test('limit who manages it: a token sees, changes and deletes secrets whose bases its admin grants cover', {
    tags: 'full',
  }, async () => {
    const [mine, theirs, all] = [newName(), newName(), newName()]
    await putSecret(mine, { value: 'v', bases: ['crm', 'crm--try', 'crm--*'] })
    await putSecret(theirs, { value: 'v', bases: ['crm', 'erp'] })
    await putSecret(all, { value: 'v' })
    const { call: ofCrm } = await world.newToken([{ permission: 'admin' }])
    const { call: ofProduction } = await world.newToken([{ permission: 'admin', environment: 'production' }])
    const { call: manager } = await world.newToken([{ permission: 'manage', base: '*' }])
    const { call: ofType } = await world.newToken([{ permission: 'admin', record_type: 'note' }])
    const names = async (by: typeof call) =>
      succeed(await by('GET', '/v1/vault/secrets?limit=1000')).data.map(({ name }: Body) => name)
    expect(await names(ofCrm)).toContain(mine)
    for (const by of [ofCrm, ofProduction]) {
      const seen = await names(by)
      for (const name of [theirs, all]) expect(seen).not.toContain(name)
    }
    expect(await names(ofProduction)).not.toContain(mine)
    expect(await names(ofType)).toEqual([])
    for (const by of [ofType, manager, ofProduction]) {
      for (const name of [mine, theirs, 'absent']) {
        expectFailure(await by('GET', at(name)), 'FORBIDDEN')
        expectFailure(await by('DELETE', at(name)), 'FORBIDDEN')
      }
      expectFailure(await by('PUT', at(mine), { value: 'w' }), 'FORBIDDEN')
    }
    expectFailure(await manager('GET', '/v1/vault/secrets'), 'FORBIDDEN')
    for (const [name, bases] of [
      [theirs, undefined],
      [theirs, ['crm']],
      [newName(), undefined],
      [newName(), ['crm', 'erp']],
      [newName(), ['crm--*', '*']],
      [mine, ['erp']],
    ] as const)
      expectFailure(await ofCrm('PUT', at(name), { value: 'w', ...(bases && { bases }) }), 'FORBIDDEN')
    expectFailure(await ofProduction('PUT', at(newName()), { value: 'w', bases: ['crm--try'] }), 'FORBIDDEN')
    expectFailure(await ofCrm('GET', at('absent')), 'FORBIDDEN')
    expect(succeed(await ofCrm('PUT', at(mine), { value: 'w' })).version).toBe(2)
    succeed(await ofCrm('DELETE', at(mine)))
    expectFailure(await ofCrm('POST', '/v1/vault/rotate'), 'FORBIDDEN')
  })
})

describe('a trigger', () => {
  test('sends secrets in its headers, and an echo of them is not kept', { tags: 'full' }, async () => {
    const [name, value] = [newName(), 'a "quoted\\value" of äö 100%']
    await putSecret(name, { value, bases: ['crm'] })
    const plain = newName()
    await putSecret(plain, { value: 'plainvalue' })
    const made = await trigger('echo', { 'X-Key': `Bearer {{secret:${name}}}/{{secret:${plain}}}` })
    expect(succeed(made, 201).headers).toEqual({ 'X-Key': `Bearer {{secret:${name}}}/{{secret:${plain}}}` })
    receiver.on('/echo', ({ headers }, response) => {
      const key = headers['x-key'] ?? ''
      response.writeHead(500).end(`${key} ${JSON.stringify({ key })} ${encodeURIComponent(key)}`)
    })
    const delivery = await delivered('echo', has('failed'))
    expect(receiver.at('/echo')[0]?.headers['x-key']).toBe(`Bearer ${value}/plainvalue`)
    const { body } = delivery.response
    expect(body).toContain('Bearer <redacted>/<redacted>')
    for (const part of ['quoted', '100%', 'plainvalue']) expect(body).not.toContain(part)
    const config = await call('GET', '/v1/crm/config')
    expect(config.text).toContain(`{{secret:${name}}}`)
    for (const { text } of [config, await call('GET', '/v1/crm/triggers/echo/history')])
      expect(text).not.toContain('plainvalue')
    const kept = await world.database.query('SELECT t::text AS text FROM plinth.trigger_delivery t')
    expect(JSON.stringify(kept)).not.toContain('plainvalue')
    expect(world.log.join()).not.toContain('plainvalue')
    succeed(await call('DELETE', '/v1/crm/triggers/echo'))
  })

  test('cannot name a secret that is absent, not open to its base or malformed, nor have one in its url', {
    tags: 'full',
  }, async () => {
    const [ofErp, ofPreview] = [newName(), newName()]
    await putSecret(ofErp, { value: 'v', bases: ['erp'] })
    await putSecret(ofPreview, { value: 'v', bases: ['crm--*'] })
    for (const name of ['absent', ofErp, ofPreview, 'a b', '', "' OR 1", 'x'.repeat(999)]) {
      const refused = await trigger('refused', { 'X-Key': `{{secret:${name}}}` })
      expectFault(refused, '/headers/X-Key')
      expect(refused.body.error.details[0].code).toBe('unknown_secret')
      if (name.length < 64) expect(refused.body.error.details[0].message).toContain(name)
    }
    for (const text of ['{{ secret:A }}', '{{secret}}', '{{Secret:A}}', '{{secret:A'])
      expectFault(await trigger('refused', { 'X-Key': text }), '/headers/X-Key')
    const many = Array.from({ length: 51 }, (_, n) => `{{secret:A${n}}}`).join('')
    expectFault(await trigger('refused', { 'X-Key': many }), '/headers/X-Key')
    const ours = newName()
    await putSecret(ours, { value: 'v' })
    for (const url of [
      `https://example.com/{{secret:${ours}}}`,
      `https://example.com/?k=%7b%7Bsecret:${ours}%7D%7D`,
    ]) {
      const refused = await trigger('refused', {}, { url })
      expectFault(refused, '/url')
      expect(refused.body.error.details[0].code).toBe('secret_in_url')
    }
    expectFault(await trigger('refused', {}, { url: `https://{{secret:${ours}}}.example.com/` }), '/url')
    expectFailure(await call('GET', '/v1/crm/triggers/refused'), 'NOT_FOUND')
  })

  test('sends nothing while its secret is gone, and goes on when it is back', { tags: 'full' }, async () => {
    const name = newName()
    await putSecret(name, { value: 'first' })
    succeed(await trigger('lost', { 'X-Key': `{{secret:${name}}}` }), 201)
    succeed(await call('DELETE', at(name)))
    const failed = await delivered('lost', has('failed'))
    expect(failed).toMatchObject({ response: null, error: expect.stringContaining(`"${name}"`) })
    expect(receiver.at('/lost')).toEqual([])
    expectFault(await call('PATCH', '/v1/crm/triggers/lost', { max_attempts: 50 }), '/headers/X-Key')
    await putSecret(name, { value: 'second' })
    await eventually(async () =>
      succeed(await call('GET', '/v1/crm/triggers/lost/deliveries')).data.find(has('succeeded')),
    )
    expect(receiver.at('/lost').map(({ headers }) => headers['x-key'])).toEqual(['second'])
    succeed(await call('PUT', at(name), { bases: ['erp'] }))
    const closed = await delivered('lost', has('failed'))
    expect(closed.error).toContain('not open to base "crm"')
    expect(receiver.at('/lost')).toHaveLength(1)
    succeed(await call('DELETE', '/v1/crm/triggers/lost'))
  })

  test.each([
    ['a line\r\nX-Other: 1', 'characters that a header cannot have'],
    ['Ω', 'characters that a header cannot have'],
    ['x'.repeat(64 * 1024), 'more than 16384 characters'],
  ])('does not send a value that no header can have', async (value, message) => {
    const [name, id] = [newName(), `odd${++serial}`]
    await putSecret(name, { value })
    succeed(await trigger(id, { 'X-Key': `{{secret:${name}}}` }), 201)
    const failed = await delivered(id, has('failed'))
    expect(failed).toMatchObject({ response: null, error: expect.stringContaining(message) })
    expect(failed.error.length).toBeLessThan(200)
    expect(receiver.at(`/${id}`)).toEqual([])
    succeed(await call('DELETE', `/v1/crm/triggers/${id}`))
  })

  test('does not keep the start of a secret where an answer is cut', { tags: 'full' }, async () => {
    const [name, value] = [newName(), 's3cr3t'.repeat(2000)]
    await putSecret(name, { value })
    succeed(await trigger('cut', { 'X-Key': `{{secret:${name}}}` }), 201)
    receiver.on('/cut', answering(500, `${value.repeat(5)}${'s3cr3t'.repeat(5000)}`))
    const { response } = await delivered('cut', has('failed'))
    expect(response.body).toMatch(/^(<redacted>)+$/)
    succeed(await call('DELETE', '/v1/crm/triggers/cut'))
  })

  test('of a preview names the secrets of its production base, and gets no value of them', {
    tags: 'full',
  }, async () => {
    const [name, ofPreviews] = [newName(), newName()]
    await putSecret(name, { value: 'of production' })
    await putSecret(ofPreviews, { value: 'of previews', bases: ['crm--*'] })
    succeed(await trigger('tried', { 'X-Key': `{{secret:${name}}}` }, {}, 'crm--try'), 201)
    const failed = await delivered('tried', has('failed'), 'crm--try')
    expect(failed.error).toContain('not open to base "crm--try"')
    expect(receiver.at('/tried')).toEqual([])
    succeed(await trigger('tried', { 'X-Key': `{{secret:${ofPreviews}}}` }, {}, 'crm--try'))
    await delivered('tried', has('succeeded'), 'crm--try')
    expect(receiver.at('/tried').at(-1)?.headers['x-key']).toBe('of previews')
    expectFailure(await call('POST', '/v1/crm/promote', { from: 'crm--try' }), 'VALIDATION_ERROR')
    succeed(await call('DELETE', '/v1/crm--try/triggers/tried'))
  })
})

describe('a rotation of the master key', () => {
  const [first, second] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')]
  const settings = { PLINTH_ALLOW_PRIVATE_TARGETS: '127.0.0.1' }
  /** What each stored secret begins with. */
  const keyIds = async (of: World) => {
    const rows = await of.database.query<{ key: string }>(
      `SELECT split_part(value, '.', 2) AS key FROM plinth.secret UNION ALL SELECT split_part(secret, '.', 2) FROM plinth.trigger
       UNION ALL SELECT split_part(former_secret, '.', 2) FROM plinth.trigger WHERE former_secret IS NOT NULL
       UNION ALL SELECT split_part(secret, '.', 2) FROM plinth.inbound_webhook`,
    )
    return rows.map(({ key }) => key)
  }

  test('goes on after an interruption, and every secret is readable all the time', {
    tags: 'full',
  }, async () => {
    const old = await openWorld({ ...settings, PLINTH_MASTER_KEY: first })
    const both = await openWorld({ ...settings, PLINTH_MASTER_KEY: `${second},${first}` }, old.database)
    try {
      succeed(await old.call('PUT', '/v1/crm/record-types/note', {}), 201)
      for (let n = 0; n < 250; n++)
        succeed(await old.call('PUT', `/v1/vault/secrets/S${n}`, { value: `value ${n}` }), 201)
      const hook = { record_type: 'note', secret: 'inbound-secret', signature: { scheme: 'github' } }
      succeed(await old.call('PUT', '/v1/crm/inbound-webhooks/in', hook), 201)
      const headers = { 'X-Key': '{{secret:S0}}{{secret:S249}}' }
      const body = { url: `${receiver.url}/rotated`, headers }
      succeed(await old.call('PUT', '/v1/crm/triggers/out', body), 201)
      succeed(await old.call('POST', '/v1/crm/triggers/out/rotate-secret'))
      const [oldId = ''] = await keyIds(old)
      const asked = succeed(await both.call('POST', '/v1/vault/rotate?dry_run=true'))
      expect(asked).toMatchObject({ rewrapped: 253, unreadable: 0, dry_run: true })
      expect(new Set(await keyIds(old))).toEqual(new Set([oldId]))
      // What interrupts it: the second step of the first table fails.
      await old.database.query(`CREATE FUNCTION plinth.interrupt() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN IF NEW.id = 'S99' THEN RAISE EXCEPTION 'interrupted'; END IF; RETURN NEW; END $$`)
      await old.database.query(
        'CREATE TRIGGER interrupt BEFORE UPDATE ON plinth.secret FOR EACH ROW EXECUTE FUNCTION plinth.interrupt()',
      )
      expectFailure(await both.call('POST', '/v1/vault/rotate'), 'INTERNAL_ERROR')
      await old.database.query('DROP TRIGGER interrupt ON plinth.secret')
      const halfway = await keyIds(old)
      expect(halfway.filter((key) => key !== oldId)).toHaveLength(200)
      // The process that has both keys reads all of them: an equal value changes nothing.
      for (const n of [0, 42, 99, 249])
        expect(
          succeed(await both.call('PUT', `/v1/vault/secrets/S${n}`, { value: `value ${n}` })).version,
        ).toBe(1)
      const done = succeed(await both.call('POST', '/v1/vault/rotate'))
      expect(done).toEqual({ key_id: expect.stringMatching(/^[0-9a-f]{16}$/), rewrapped: 53, unreadable: 0 })
      expect(new Set(await keyIds(old))).toEqual(new Set([done.key_id]))
      expect(succeed(await both.call('POST', '/v1/vault/rotate'))).toMatchObject({ rewrapped: 0 })
    } finally {
      await both.close()
    }
    const renewed = await openWorld({ ...settings, PLINTH_MASTER_KEY: second }, old.database)
    try {
      const { version } = succeed(await renewed.call('PUT', '/v1/vault/secrets/S7', { value: 'value 7' }))
      expect(version).toBe(1)
      const hook = { record_type: 'note', secret: 'inbound-secret', signature: { scheme: 'github' } }
      expect(succeed(await renewed.call('PUT', '/v1/crm/inbound-webhooks/in', hook)).version).toBe(1)
    } finally {
      await renewed.close()
      await old.close()
    }
  })

  test('counts what it cannot read, and a server without the key of the database rotates nothing', {
    tags: 'full',
  }, async () => {
    const old = await openWorld({ PLINTH_MASTER_KEY: first })
    const other = await openWorld({ PLINTH_MASTER_KEY: second }, old.database)
    try {
      for (const name of ['A', 'B'])
        succeed(await old.call('PUT', `/v1/vault/secrets/${name}`, { value: 'v' }), 201)
      expectFailure(await other.call('POST', '/v1/vault/rotate'), 'INTERNAL_ERROR')
      expectFailure(await other.call('PUT', '/v1/vault/secrets/C', { value: 'v' }), 'INTERNAL_ERROR')
      await old.database.query(
        `UPDATE plinth.secret SET value = regexp_replace(value, '^v1[.][^.]*', 'v1.0123456789abcdef') WHERE id = 'B'`,
      )
      expect(succeed(await old.call('POST', '/v1/vault/rotate'))).toMatchObject({
        rewrapped: 0,
        unreadable: 1,
      })
      expect(succeed(await old.call('PUT', '/v1/vault/secrets/B', { value: 'v' })).version).toBe(2)
      expect(succeed(await old.call('POST', '/v1/vault/rotate'))).toMatchObject({ unreadable: 0 })
    } finally {
      await other.close()
      await old.close()
    }
  })
})
