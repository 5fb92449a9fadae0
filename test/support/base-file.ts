/** Exports of bases: sent, taken apart and put together again, also as no export is. */
import { createHash } from 'node:crypto'
import { header, padding, TAR_END } from '../../src/engine/environments/base-file/tar.ts'
import { succeed } from './answers.ts'
import { large } from './files.ts'
import type { Answer, Body } from './server.ts'
import type { World } from './world.ts'

export type Members = Map<string, Buffer>

/** The members of a tar, read without the reader under test. */
export function membersOf(tar: Buffer): Members {
  const members: Members = new Map()
  for (let at = 0; tar[at] !== 0; ) {
    const name = tar.toString('latin1', at, tar.indexOf(0, at))
    const size = Number.parseInt(tar.toString('latin1', at + 124, at + 135), 8)
    members.set(name, tar.subarray(at + 512, at + 512 + size))
    at += 512 + size + ((512 - (size % 512)) % 512)
  }
  return members
}

export const linesIn = (members: Members, name: string): Body[] =>
  (members.get(name)?.toString() ?? '')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

export const linesText = (lines: readonly object[]): Buffer =>
  Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))

/** A tar of the members as they are. */
export const tarOf = (members: Iterable<readonly [string, Buffer]>): Buffer =>
  Buffer.concat([
    ...[...members].flatMap(([name, bytes]) => [header(name, bytes.length), bytes, padding(bytes.length)]),
    TAR_END,
  ])

/** A tar of the members whose end says what they are, as that of a forger. */
export function forgedOf(members: Members): Buffer {
  const all = [...members].filter(([name]) => name !== 'end.json')
  const plain = all.filter(([name]) => !name.startsWith('contents/'))
  const listed = plain.map(([name, bytes]) => ({
    ...{ name, bytes: bytes.length },
    ...(name.endsWith('.ndjson') && { lines: bytes.toString().split('\n').length - 1 }),
    sha256: createHash('sha256').update(bytes).digest('hex'),
  }))
  const end = { members: listed, contents: all.length - plain.length }
  return tarOf([...all, ['end.json', Buffer.from(JSON.stringify(end))]])
}

export function exportsOf({ url, adminToken }: Pick<World, 'url' | 'adminToken'>, token = adminToken) {
  const authorization = `Bearer ${token}`
  return {
    exported: async (base: string, query = ''): Promise<Buffer> => {
      const answer = await fetch(`${url}/v1/${base}/export${query}`, { headers: { authorization } })
      const bytes = Buffer.from(await answer.arrayBuffer())
      if (answer.status !== 200) throw new Error(bytes.toString())
      return bytes
    },
    imported: async (id: string, file: Buffer, query = '', more: object = {}): Promise<Answer> => {
      const answer = await fetch(`${url}/v1/bases/${id}/import${query}`, {
        method: 'PUT',
        headers: { authorization, 'content-type': 'application/x-tar', ...more },
        body: new Uint8Array(file),
      })
      const text = await answer.text()
      return { status: answer.status, headers: answer.headers, text, body: JSON.parse(text) }
    },
  }
}

/** Fills `crm` with something of all that an export holds. */
export async function fillBase(world: World): Promise<void> {
  const { call } = world
  const put = async (path: string, body: unknown, headers = {}) => {
    const answer = await call('PUT', `/v1/crm/${path}`, body, headers)
    if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`)
    return answer.body
  }
  const schema = { type: 'object', properties: { name: { type: 'string' }, amount: { type: 'number' } } }
  await put('record-types/company', {
    json_schema: schema,
    indexes: [
      { fields: ['data.name'], unique: true },
      { fields: ['data.name'], type: 'text' },
    ],
  })
  await put('record-types/deal', { json_schema: schema, display: { title: 'name' } })
  await put('record-types/deal-2', {})
  await put('relationship-types/of', { source_record_types: ['deal'], cardinality: 'many_to_one' })
  await put('file-types/docs', {})
  await put('endpoints/desk', { tools: [{ record_type: 'deal', operations: ['get'] }] })
  await put('triggers/won', { url: 'https://hooks.invalid/won', record_types: ['deal'] })
  for (const id of ['a', 'b', 'c'])
    await put(`records/company/${id}`, { data: { name: `Company ${id} é 𝄞` } })
  await put('records/deal/d1', {
    data: { name: 'One', amount: 1.5 },
    external_id: 'x1',
    external_source: 'erp',
  })
  const second = await put('records/deal/d1', { data: { name: 'One', amount: 2 } })
  await put('records/deal/d2', { data: { name: 'Two', note: 'with\nbreaks \u2028 and "quotes"' } })
  await put('records/deal/d3', { data: { name: 'Gone' } })
  succeed(await call('POST', '/v1/crm/records/deal/d2/cancel'))
  const link = {
    rel_type: 'of',
    source_record_type: 'deal',
    source_id: 'd1',
    target_record_type: 'company',
    target_id: 'a',
  }
  succeed(await call('PUT', '/v1/crm/relationships', { ...link, data: { since: 2020 } }), 201)
  succeed(await call('DELETE', '/v1/crm/records/deal/d3'))
  const changes = succeed(await call('GET', '/v1/crm/changes?record_type=deal&limit=1000')).data as Body[]
  const seq = changes.find(({ id, version }) => id === 'd1' && version === second.version)?.seq
  succeed(await call('POST', `/v1/crm/changes/${seq}/revert`))
  const text = { 'content-type': 'text/plain' }
  await put('files/docs/a/readme.txt', 'the first words', text)
  await put('files/docs/a/readme.txt', large('the second words'), text)
  await put('files/docs/b.bin', 'binary', {
    'content-type': 'application/octet-stream',
    'x-file-metadata': '{"b":1,"a":2}',
  })
  await put('files/docs/gone.txt', 'in the trash', text)
  succeed(await call('DELETE', '/v1/crm/files/docs/gone.txt'))
  const attach = (filename: string) =>
    call('POST', '/v1/crm/records/deal/d1/attachments', {
      filename,
      content: 'attached',
      content_type: 'text/plain',
    })
  succeed(await attach('note.txt'), 201)
  // A schema that a record does not fit any longer.
  await call('PUT', '/v1/crm/record-types/deal?on_invalid=allow', {
    json_schema: { ...schema, required: ['amount'] },
    display: { title: 'name' },
  })
}
