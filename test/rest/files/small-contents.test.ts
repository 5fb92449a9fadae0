/** Small contents are rows of the database, and read like all others. */
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { LIMITS } from '../../../src/foundation/limits.ts'
import { expectFailure, succeed, times } from '../../support/answers.ts'
import { filesIn, large, sha256 } from '../../support/files.ts'
import { bytesOf, newKeys, senderOf } from '../../support/s3.ts'
import { openWorld, type World } from '../../support/world.ts'

let world: World
let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'plinth-small-'))
  world = await openWorld({ PLINTH_BLOB_URL: pathToFileURL(directory).href })
  succeed(await world.call('PUT', '/v1/crm/file-types/docs', {}), 201)
})
afterAll(async () => {
  await world.close()
  await rm(directory, { recursive: true, force: true })
})

const { at, get, put, versionsOf } = filesIn(() => world)
const query = <Row extends object>(text: string, values: unknown[] = []) =>
  world.database.query<Row>(text, values)
/** The digests of the rows, and those of the files in the folder. */
const rows = async () =>
  (await query<{ sha256: string }>('SELECT sha256 FROM plinth.content')).map((row) => row.sha256)
const blobs = async () =>
  (await readdir(directory, { recursive: true })).flatMap((name) => /[0-9a-f]{64}$/.exec(name) ?? [])
const placesOf = async (content: string | Buffer) => {
  const isHere = (names: string[]) => names.filter((name) => name === sha256(content)).length
  return { rows: isHere(await rows()), blobs: isHere(await blobs()) }
}
const age = () => query(`UPDATE plinth.content SET stored_at = now() - interval '25 hours'`)
const sweep = async () => {
  await query(`SELECT graphile_worker.add_job('sweep_contents', '{}', job_key => 'sweep')`)
  await vi.waitFor(async () => expect(await query('SELECT FROM graphile_worker.jobs')).toEqual([]), {
    timeout: 20_000,
  })
}
/** Stores the content of a row as an earlier version did: as a file, and older than a day. */
async function moveToFile(content: string): Promise<void> {
  const digest = sha256(content)
  await query('DELETE FROM plinth.content WHERE sha256 = $1', [digest])
  const place = join(directory, digest.slice(0, 2), digest.slice(2, 4), digest)
  await mkdir(dirname(place), { recursive: true })
  await writeFile(place, content)
  const then = new Date(Date.now() - 25 * 3_600_000)
  await utimes(place, then, then)
}

test('a content is a row up to the limit, and a file above it; both are read alike', {
  tags: 'full',
}, async () => {
  for (const size of [0, 1, LIMITS.rowContentBytes, LIMITS.rowContentBytes + 1]) {
    const content = randomBytes(size)
    succeed(await world.call('PUT', at(`size/${size}`), content), 201)
    const isRow = size <= LIMITS.rowContentBytes
    expect(await placesOf(content)).toEqual({ rows: isRow ? 1 : 0, blobs: isRow ? 0 : 1 })
    const whole = await fetch(world.url + at(`size/${size}`), {
      headers: { authorization: `Bearer ${world.adminToken}` },
    })
    expect(Buffer.from(await whole.arrayBuffer()).equals(content)).toBe(true)
    expect(whole.headers.get('etag')).toBe(`"${sha256(content)}"`)
  }
})

test('equal contents of files and attachments are one row', { tags: 'full' }, async () => {
  succeed(await put('a', 'shared'), 201)
  succeed(await put('b', 'shared'), 201)
  const type = await world.newType()
  succeed(await world.call('PUT', `/v1/crm/records/${type}/r`, { data: {} }), 201)
  const attachment = { filename: 'a.txt', content: 'shared', content_type: 'text/plain' }
  succeed(await world.call('POST', `/v1/crm/records/${type}/r/attachments`, attachment), 201)
  expect(await placesOf('shared')).toEqual({ rows: 1, blobs: 0 })
  const { url } = succeed(await world.call('GET', `/v1/crm/records/${type}/r/attachments/a.txt`))
  expect(await (await fetch(url)).text()).toBe('shared')
})

test('ranges and conditions of a small content', async () => {
  succeed(await put('ranges', '0123456789'), 201)
  const range = async (headers: object) => {
    const { status, text, headers: sent } = await get('ranges', headers)
    return [status, text, sent.get('content-range')]
  }
  const etag = `"${sha256('0123456789')}"`
  expect(await range({ range: 'bytes=2-4' })).toEqual([206, '234', 'bytes 2-4/10'])
  expect(await range({ range: 'bytes=-3' })).toEqual([206, '789', 'bytes 7-9/10'])
  expect(await range({ range: 'bytes=9-99', 'if-range': etag })).toEqual([206, '9', 'bytes 9-9/10'])
  expect(await range({ range: 'bytes=0-1', 'if-range': '"other"' })).toEqual([200, '0123456789', null])
  expect(expectFailure(await get('ranges', { range: 'bytes=10-' }), 'VALIDATION_ERROR').details[0].code).toBe(
    'range_not_satisfiable',
  )
  expect((await get('ranges', { 'if-none-match': etag })).status).toBe(304)
  const head = await world.call('HEAD', at('ranges'))
  expect([head.status, head.text, head.headers.get('content-length')]).toEqual([200, '', '10'])
})

test('what is refused, rehearsed or given up leaves no row', { tags: 'full' }, async () => {
  const before = await rows()
  const digest = `sha-256=:${Buffer.from(sha256('other'), 'hex').toString('base64')}:`
  expect(
    expectFailure(await put('refused', 'refused 1', { 'content-digest': digest }), 'VALIDATION_ERROR')
      .details[0].code,
  ).toBe('digest_mismatch')
  expectFailure(await put('refused', 'refused 2', { 'if-match': '*' }), 'NOT_FOUND')
  expectFailure(await put('../refused', 'refused 3'), 'NOT_FOUND')
  expectFailure(await put('a//refused', 'refused 4'), 'VALIDATION_ERROR')
  succeed(await put('refused?dry_run=true', 'refused 5'), 201)
  succeed(await world.call('PUT', '/v1/crm/file-types/tiny', { storage: { max_bytes: 3 } }), 201)
  expectFailure(await put('refused', 'refused 6', {}, 'tiny'), 'VALIDATION_ERROR')
  expect(await rows()).toEqual(before)
  expectFailure(await get('refused'), 'NOT_FOUND')
})

test('a body that is shorter than declared, or malformed, is 400 and leaves no row', async () => {
  const before = await rows()
  const { hostname, port } = new URL(world.url)
  const send = (header: string, body: string) =>
    new Promise<string>((resolve, reject) => {
      let text = ''
      const socket = connect(Number(port), hostname)
      socket.on('data', (chunk) => {
        text += chunk
      })
      socket.on('end', () => resolve(text)).on('error', reject)
      socket.end(
        `PUT ${at('length')} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${world.adminToken}\r\n${header}\r\n\r\n${body}`,
      )
    })
  const faults = [
    ['content-length: 100', 'x'.repeat(40)],
    ['content-length: -5', ''],
    ['content-length: 5\r\ncontent-length: 6', 'hello'],
    ['content-length: 5\r\ntransfer-encoding: chunked', '5\r\nhello\r\n0\r\n\r\n'],
    ['transfer-encoding: chunked', 'zz\r\nhello\r\n'],
    ['transfer-encoding: chunked', 'a\r\nhello'],
  ] as const
  for (const [header, body] of faults) expect(await send(header, body)).toMatch(/^HTTP\/1.1 400 /)
  expect(await rows()).toEqual(before)
  expectFailure(await get('length'), 'NOT_FOUND')
})

test('a small content that an earlier version stored as a file is read, edited, copied and compared', {
  tags: 'full',
}, async () => {
  const old = 'old words\n'
  succeed(await put('old', old), 201)
  await moveToFile(old)
  expect(await placesOf(old)).toEqual({ rows: 0, blobs: 1 })
  expect((await get('old')).text).toBe(old)
  expect((await get('old', { range: 'bytes=4-8' })).text).toBe('words')
  expect(succeed(await get('old?lines=1')).text).toBe(old)
  const keys = await newKeys(world)
  const send = senderOf(keys)
  await send('CopyObject', { Key: 'docs/copy', CopySource: `${keys.bucket}/docs/old` })
  expect((await get('copy')).text).toBe(old)
  const edits = [{ find: 'old', replace: 'new' }]
  succeed(await world.call('PATCH', at('old'), { edits }))
  expect(await placesOf('new words\n')).toEqual({ rows: 1, blobs: 0 })
  expect((await get('old?version=1')).text).toBe(old)
  const { diff } = succeed(await get('old?diff&from=1&to=2'))
  expect(diff).toContain('-old words')
})

test('a content that is a file and becomes a row is kept once', async () => {
  succeed(await put('twice', 'twice'), 201)
  await moveToFile('twice')
  succeed(await put('again', 'twice'), 201)
  expect(await placesOf('twice')).toEqual({ rows: 1, blobs: 1 })
  await sweep()
  expect(await placesOf('twice')).toEqual({ rows: 1, blobs: 0 })
  for (const path of ['twice', 'again']) expect((await get(path)).text).toBe('twice')
})

test('a sweep removes old rows that nothing refers to, and keeps all others', { tags: 'full' }, async () => {
  for (const content of ['kept', 'former', 'trashed', 'gone'])
    succeed(await put(`sweep/${content}`, content), 201)
  succeed(await put('sweep/former', 'later'))
  for (const content of ['trashed', 'gone']) succeed(await world.call('DELETE', at(`sweep/${content}`)))
  await query(`UPDATE plinth.file SET deleted_at = now() - interval '31 days' WHERE path = 'sweep/gone'`)
  await sweep()
  // It is not a day old.
  expect(await placesOf('gone')).toEqual({ rows: 1, blobs: 0 })
  await age()
  await sweep()
  expect(await placesOf('gone')).toEqual({ rows: 0, blobs: 0 })
  for (const content of ['kept', 'former', 'later', 'trashed'])
    expect(await placesOf(content), content).toEqual({ rows: 1, blobs: 0 })
  expect((await get('sweep/former?version=1')).text).toBe('former')
  expect(await versionsOf('sweep/former')).toEqual([2, 1])
})

test('a file is logged alike whether one statement writes it or several do', { tags: 'full' }, async () => {
  const metadata = { 'x-file-metadata': '{"b":1,"a":{"z":[1.5]}}', 'x-service-label': 'first' }
  const answers = [
    succeed(await put('alike/once', 'alike', metadata), 201),
    succeed(await put('alike/steps', 'alike', { ...metadata, 'if-none-match': '*' }), 201),
  ]
  const etag = `"${sha256('alike')}"`
  answers.push(succeed(await put('alike/once', 'alike 2')))
  answers.push(succeed(await put('alike/steps', 'alike 2', { 'if-match': etag })))
  const logged = await query<{
    id: string
    operation: string
    version: number
    data: Record<string, unknown>
  }>(
    `SELECT id, operation, version, data FROM plinth.change WHERE kind = 'file' AND id LIKE 'docs/alike/%' ORDER BY version, seq`,
  )
  const withoutPlace = ({
    data: { path, createdAt, updatedAt, ...data },
    id,
    ...entry
  }: (typeof logged)[number]) => {
    expect(id).toBe(`docs/${path}`)
    const answer = answers.find((each) => each.path === path && each.version === entry.version)
    expect([createdAt, updatedAt]).toEqual([answer?.created_at, answer?.updated_at])
    return { ...entry, data }
  }
  const [first, second, third, fourth] = logged.map(withoutPlace)
  expect(logged).toHaveLength(4)
  expect(second).toEqual(first)
  expect(fourth).toEqual(third)
  expect(await versionsOf('alike/once')).toEqual(await versionsOf('alike/steps'))
})

test('a sweep during writes of a content leaves no file without it', { tags: 'full' }, async () => {
  for (const round of times(6, (i) => i)) {
    // Nothing refers to the content, and it is old, so that the sweep wants it while the writers come.
    await query('DELETE FROM plinth.file WHERE path LIKE $1', ['race/%'])
    await age()
    const writes = times(12, (i) => put(`race/${round}/${i}`, 'raced'))
    const [answers] = await Promise.all([Promise.all(writes), sweep()])
    for (const answer of answers) succeed(answer, 201)
    for (const i of times(12, (n) => n)) expect((await get(`race/${round}/${i}`)).text).toBe('raced')
  }
})

test('files that are written together each have their own outcome, versions and log', {
  tags: 'full',
}, async () => {
  const token = await world.newToken([{ permission: 'write' }])
  await Promise.all(times(20, (i) => put(`mixed/${i}`, `first ${i}`)))
  await Promise.all(times(5, (i) => world.call('DELETE', at(`mixed/${i}`))))
  const answers = await Promise.all(
    times(40, (i) =>
      // 0–4 are deleted, 5–9 keep their content, 10–19 change, 20–29 are new, 30–39 too, with one content.
      (i % 2 ? world : token).call(
        'PUT',
        at(`mixed/${i}`),
        i < 10 ? `first ${i}` : i < 30 ? `second ${i}` : 'one content',
        { 'content-type': 'text/plain', 'x-request-id': `mixed-${i}`, 'x-service-label': `label ${i}` },
      ),
    ),
  )
  for (const [i, { status, body }] of answers.entries()) {
    const isNew = i < 5 || i >= 20
    const version = i < 5 || (i >= 10 && i < 20) ? 2 : 1
    expect([i, status, body.version, body.label]).toEqual([i, isNew ? 201 : 200, version, `label ${i}`])
    expect(body.operation).toBe(isNew ? 'created' : 'updated')
    const content = (await get(`mixed/${i}`)).text
    expect(content).toBe(i < 10 ? `first ${i}` : i < 30 ? `second ${i}` : 'one content')
    expect(await versionsOf(`mixed/${i}`)).toEqual(i >= 10 && i < 20 ? [2, 1] : [version])
    const [entry] = await query<{ request_id: string; token_id: string; version: number }>(
      `SELECT request_id, token_id, version FROM plinth.change WHERE kind = 'file' AND id = $1 ORDER BY seq DESC LIMIT 1`,
      [`docs/mixed/${i}`],
    )
    expect(entry).toMatchObject({ request_id: `mixed-${i}`, version })
    expect(entry?.token_id === token.id).toBe(i % 2 === 0)
  }
})

test('a content that the database cannot store fails its own write only, and nothing of it shows', {
  tags: 'full',
}, async () => {
  await query(`CREATE FUNCTION plinth.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NEW.bytes LIKE 'too much%' THEN RAISE EXCEPTION USING ERRCODE = 'data_exception'; END IF;
    IF NEW.bytes LIKE 'the last%' THEN RAISE EXCEPTION USING ERRCODE = 'disk_full'; END IF;
    RETURN NEW; END $$`)
  await query(
    'CREATE TRIGGER refuse BEFORE INSERT ON plinth.content FOR EACH ROW EXECUTE FUNCTION plinth.refuse()',
  )
  succeed(await put('full/3', 'before'), 201)
  const answers = await Promise.all(
    times(12, (i) => put(`full/${i}`, i % 4 === 3 ? `too much ${i}` : `enough ${i}`)),
  )
  const [last, read] = await Promise.all([put('full/3', 'the last'), get('full/3')])
  await query('DROP FUNCTION plinth.refuse CASCADE')
  expect(expectFailure(last, 'INTERNAL_ERROR').details[0].code).toBe('disk_full')
  expect(read.text).toBe('before')
  for (const [i, answer] of answers.entries()) {
    if (i % 4 !== 3) succeed(answer, 201)
    else expectFailure(answer, 'INTERNAL_ERROR')
    expect(answer.text).not.toMatch(/plinth\.|INSERT|RAISE/)
  }
  const { data } = succeed(await world.call('GET', '/v1/crm/files/docs?prefix=full/'))
  expect(data.map(({ path }: { path: string }) => path).sort()).toEqual(
    times(12, (i) => `full/${i}`)
      .filter((path) => !['full/7', 'full/11'].includes(path))
      .sort(),
  )
  expect((await get('full/3')).text).toBe('before')
  expect(await versionsOf('full/3')).toEqual([1])
  expect(await placesOf('too much 3')).toEqual({ rows: 0, blobs: 0 })
  succeed(await put('full/7', 'too much 7'), 201)
})

test('writers of one new content at the same time store it once', { tags: 'full' }, async () => {
  const answers = await Promise.all(times(24, (i) => put(`equal/${i}`, 'equal')))
  for (const answer of answers) succeed(answer, 201)
  expect(await placesOf('equal')).toEqual({ rows: 1, blobs: 0 })
})

test('the S3 gateway reads and writes small contents, in ranges and in parts', { tags: 'full' }, async () => {
  const send = senderOf(await newKeys(world))
  await send('PutObject', { Key: 'docs/s3', Body: 'gateway' })
  expect(await placesOf('gateway')).toEqual({ rows: 1, blobs: 0 })
  expect((await bytesOf(await send('GetObject', { Key: 'docs/s3' }))).toString()).toBe('gateway')
  expect((await bytesOf(await send('GetObject', { Key: 'docs/s3', Range: 'bytes=0-3' }))).toString()).toBe(
    'gate',
  )
  const { UploadId } = await send('CreateMultipartUpload', { Key: 'docs/parts' })
  const part = { Key: 'docs/parts', UploadId, PartNumber: 1 }
  const { ETag } = await send('UploadPart', { ...part, Body: 'one part' })
  const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] }
  await send('CompleteMultipartUpload', { Key: 'docs/parts', UploadId, MultipartUpload })
  expect((await get('parts')).text).toBe('one part')
  expect(await placesOf('one part')).toEqual({ rows: 1, blobs: 0 })
})

test('a large content is not searched for among the rows, and neither place hides the other', async () => {
  succeed(await put('both/small', 'neighbour'), 201)
  succeed(await put('both/large', large('neighbour')), 201)
  const { data } = succeed(await world.call('GET', '/v1/crm/files?search=neighbour&snippets=true'))
  expect(data.map(({ path }: { path: string }) => path).sort()).toEqual(['both/large', 'both/small'])
  for (const { _snippets } of data) expect(_snippets[0].matches).toEqual(['neighbour'])
})
