/** The way out: which addresses a request reaches, and what is kept of an answer. Real sockets, names by a stub. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer as createTcpServer } from 'node:net'
import ipaddr from 'ipaddr.js'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { readPrivateHosts } from '../../src/foundation/egress/allowed-addresses.ts'
import { type Egress, openEgress } from '../../src/foundation/egress/dispatcher.ts'
import { guardedLookup, type Resolve, systemResolver } from '../../src/foundation/egress/guarded-lookup.ts'
import { urlFault } from '../../src/foundation/egress/url-fault.ts'

let connections = 0
let paths: string[] = []
const servers: Server[] = []
let port = 0
let port6 = 0

/** A server that nothing may reach unless it is allowed. */
async function sentinel(host: string): Promise<number> {
  const server = createServer((request, response) => {
    paths.push(request.url ?? '')
    if (request.url === '/redirect') return void response.writeHead(302, { location: '/inside' }).end()
    if (request.url === '/long') return void response.end('x'.repeat(1024 * 1024))
    if (request.url === '/reset') return void request.socket.resetAndDestroy()
    response.end('hello')
  })
  server.on('connection', () => connections++)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  return (server.address() as AddressInfo).port
}

beforeAll(async () => {
  port = await sentinel('0.0.0.0')
  port6 = await sentinel('::1')
})
afterAll(() => {
  for (const server of servers) server.close()
})
const opened: Egress[] = []
afterEach(async () => {
  for (const egress of opened.splice(0)) await egress.close()
  paths = []
})

const open = (allowed = '', resolve?: Resolve): Egress => {
  const egress = openEgress(readPrivateHosts(allowed), resolve)
  opened.push(egress)
  return egress
}
const post = (egress: Egress, url: string) => egress.send({ method: 'POST', url, headers: {}, body: '{}' })

/** Loopback, private, link-local, metadata and other special addresses, in every form that a URL takes. */
const FORMS = [
  ...['127.0.0.1', '127.1', '127.0.1', '127.255.255.254', '2130706433', '0x7f000001', '0x7f.0.0.1', '0x7f.1'],
  ...[
    '0177.0.0.1',
    '017700000001',
    '0177.0x0.0.01',
    '127.0.0.1.',
    '127.000.000.001',
    '１２７.0.0.1',
    '127。0。0。1',
  ],
  ...[
    '0.0.0.0',
    '0',
    '0x0',
    '00',
    '0.0.0.1',
    '0.255.255.255',
    '10.0.0.1',
    '10.255.255.255',
    '167772161',
    '012.0.0.1',
  ],
  ...[
    '172.16.0.1',
    '172.31.255.255',
    '192.168.0.1',
    '192.168.255.255',
    '3232235521',
    '0xc0a80001',
    '0300.0250.1',
  ],
  ...['169.254.169.254', '2852039166', '0xa9fea9fe', '0251.0376.0251.0376', '169.254.0.1', '169.254.170.2'],
  ...[
    '100.64.0.1',
    '100.127.255.254',
    '100.100.100.200',
    '192.0.0.1',
    '192.0.0.192',
    '192.0.2.1',
    '198.18.0.1',
  ],
  ...[
    '198.19.255.255',
    '198.51.100.1',
    '203.0.113.1',
    '192.88.99.1',
    '224.0.0.1',
    '239.255.255.255',
    '240.0.0.1',
  ],
  ...['255.255.255.255', '4294967295', '0xffffffff'],
  ...[
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[0000:0000::0001]',
    '[::]',
    '[::0]',
    '[::2]',
    '[::127.0.0.1]',
    '[::7f00:1]',
  ],
  ...[
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::FFFF:127.0.0.1]',
    '[0:0:0:0:0:ffff:7f00:1]',
    '[::ffff:10.0.0.1]',
  ],
  ...[
    '[::ffff:a9fe:a9fe]',
    '[::ffff:169.254.169.254]',
    '[::ffff:192.168.1.1]',
    '[::ffff:0.0.0.0]',
    '[::ffff:0:127.0.0.1]',
  ],
  ...[
    '[64:ff9b::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[64:ff9b::a9fe:a9fe]',
    '[64:ff9b:1::1]',
    '[64:ff9b:1::7f00:1]',
  ],
  ...[
    '[2002:7f00:1::]',
    '[2002:a00:1::1]',
    '[2002:a9fe:a9fe::]',
    '[2001:0:7f00:1::]',
    '[2001::1]',
    '[2001:db8::1]',
  ],
  ...['[2001:10::1]', '[2001:20::1]', '[2001:2::1]', '[100::1]', '[fc00::1]', '[fd00::1]', '[fd00:ec2::254]'],
  ...[
    '[fdff:ffff::1]',
    '[fe80::1]',
    '[febf::1]',
    '[fec0::1]',
    '[feff::1]',
    '[ff02::1]',
    '[ff0e::1]',
    '[3fff::1]',
  ],
  ...['[4000::1]', '[5f00::1]', '[8000::1]', '[e000::1]'],
  ...[
    '127.0.1.1',
    '127.0.0.53',
    '0x7F.0x0.0x0.0x1',
    '0177.1',
    '10.1',
    '172.16.1',
    '192.168.257',
    '169.254.43518',
  ],
  ...['[::ffff:100.64.0.1]', '[fe80::a9fe:a9fe]', '[0064:ff9b::10.0.0.1]'],
  ...['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'LocalHost.', 'ｌocalhost', 'localhost%2e'],
]

test('no form of a private address is accepted, and none is connected to', async () => {
  const none = readPrivateHosts('')
  expect(FORMS.length).toBeGreaterThanOrEqual(120)
  const before = connections
  const egress = open()
  for (const host of FORMS)
    for (const at of [port, port6]) {
      const url = `http://${host}:${at}/`
      expect([host, urlFault(url, none)?.code]).toEqual([host, 'blocked_address'])
      expect([host, (await post(egress, url)).error?.reason]).toEqual([host, 'blocked_address'])
    }
  expect(connections).toBe(before)
})

test('public addresses, and names that are not known yet, are accepted', () => {
  const none = readPrivateHosts('')
  for (const host of [
    '1.1.1.1',
    '[2606:4700:4700::1111]',
    'example.com',
    'example.com.',
    '93.184.216.34:8443',
    'db',
  ])
    expect([host, urlFault(`https://${host}/hook?a=1`, none)]).toEqual([host, null])
})

test.each([
  ['ftp://example.com/', 'invalid_url'],
  ['file:///etc/passwd', 'invalid_url'],
  ['example.com/hook', 'invalid_url'],
  ['https://user@example.com/', 'invalid_url'],
  ['https://user:secret@example.com/', 'invalid_url'],
  ['https://:secret@example.com/', 'invalid_url'],
  ['https://', 'invalid_url'],
  ['https://exa mple.com/', 'invalid_url'],
  ['https://1.1.1.1.1.300/', 'invalid_url'],
  ['https://[::1/', 'invalid_url'],
  ['https://example.com:22/', 'blocked_port'],
  ['http://example.com:25/', 'blocked_port'],
  ['http://1.1.1.1:389/', 'blocked_port'],
  [`https://example.com/${'x'.repeat(2048)}`, 'too_long'],
])('%s is refused as %s', (url, code) => {
  expect(urlFault(url, readPrivateHosts(''))?.code).toBe(code)
})

test('a name is refused if one of its addresses is private, and is not connected to', async () => {
  const before = connections
  const answers: Readonly<Record<string, readonly string[]>> = {
    'inside.example': ['127.0.0.1'],
    'both.example': ['93.184.216.34', '127.0.0.1'],
    'mapped.example': ['::ffff:127.0.0.1'],
    'six.example': ['::1'],
    'metadata.example': ['169.254.169.254'],
  }
  const egress = open('', async (host) =>
    (answers[host] ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
  )
  for (const host of Object.keys(answers))
    expect([host, (await post(egress, `http://${host}:${port}/`)).error]).toEqual([
      host,
      { reason: 'blocked_address', message: expect.not.stringMatching(/\d/) },
    ])
  expect(connections).toBe(before)
})

test('a name is asked once for a connection, so that a second answer has no effect', async () => {
  let asked = 0
  const egress = open('127.0.0.1', async () => [
    { address: ++asked === 1 ? '127.0.0.1' : '10.0.0.1', family: 4 },
  ])
  expect((await post(egress, `http://turns.example:${port}/first`)).status).toBe(200)
  expect(asked).toBe(1)
  const other = open('', async () => [{ address: ++asked === 2 ? '127.0.0.1' : '93.184.216.34', family: 4 }])
  expect((await post(other, `http://turns.example:${port}/second`)).error?.reason).toBe('blocked_address')
  expect(paths).toEqual(['/first'])
})

test('a listed host, address or range is reached, and nothing beside it', async () => {
  const inside: Resolve = async () => [{ address: '127.0.0.1', family: 4 }]
  for (const allowed of ['127.0.0.1', '127.0.0.0/8', '::1, 127.0.0.1']) {
    const egress = open(allowed)
    expect([allowed, (await post(egress, `http://127.0.0.1:${port}/`)).status]).toEqual([allowed, 200])
    expect((await post(egress, `http://10.0.0.1:${port}/`)).error?.reason).toBe('blocked_address')
  }
  const byName = open('receiver, box.example', inside)
  expect((await post(byName, `http://receiver:${port}/`)).status).toBe(200)
  expect((await post(byName, `http://BOX.example:${port}/`)).status).toBe(200)
  expect((await post(byName, `http://other.example:${port}/`)).error?.reason).toBe('blocked_address')
  expect((await post(byName, `http://127.0.0.1:${port}/`)).error?.reason).toBe('blocked_address')
  expect(() => readPrivateHosts('10.0.0.0/99')).toThrow('"10.0.0.0/99"')
  expect(() => readPrivateHosts('http://x')).toThrow('"http://x"')
})

test('a redirect is an answer, and is not followed', async () => {
  const sent = await post(open('127.0.0.1'), `http://127.0.0.1:${port}/redirect`)
  expect([sent.status, paths]).toEqual([302, ['/redirect']])
})

test('64 KiB of an answer are kept', async () => {
  const sent = await post(open('127.0.0.1'), `http://127.0.0.1:${port}/long`)
  expect([sent.status, sent.body.length, sent.isCut]).toEqual([200, 65_536, true])
})

test('a receiver that closes, refuses or talks no HTTP is a failure in plain words', async () => {
  const egress = open('127.0.0.1')
  const mute = createTcpServer((socket) => {
    socket.on('error', () => {})
    socket.end('SSH-2.0-OpenSSH_9.6\r\n', () => socket.destroy())
  })
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve))
  const talking = (mute.address() as AddressInfo).port
  const errorOf = async (url: string) => (await post(egress, url)).error
  expect(await errorOf(`http://127.0.0.1:${port}/reset`)).toMatchObject({ reason: 'connection_failed' })
  expect((await errorOf(`http://127.0.0.1:${talking}/`))?.reason).toBe('connection_failed')
  await new Promise((resolve) => mute.close(resolve))
  expect(await errorOf(`http://127.0.0.1:${talking}/`)).toEqual({
    reason: 'connection_failed',
    message: 'The receiver refused the connection.',
  })
})

test('a proxy of the environment is not used', async () => {
  const before = { ...process.env }
  Object.assign(process.env, { HTTP_PROXY: `http://127.0.0.1:${port6}`, NODE_USE_ENV_PROXY: '1' })
  try {
    await post(open('127.0.0.1'), `http://127.0.0.1:${port}/direct`)
    expect(paths).toEqual(['/direct'])
  } finally {
    process.env = before
  }
})

test('a receiver that does not answer, or never ends its answer, is given up', {
  tags: 'full',
}, async () => {
  const drip = createServer((request, response) => {
    if (request.url === '/hang') return
    response.writeHead(200)
    const timer = setInterval(() => response.write('x'), 1000)
    response.on('close', () => clearInterval(timer))
  })
  await new Promise<void>((resolve) => drip.listen(0, '127.0.0.1', resolve))
  const at = `http://127.0.0.1:${(drip.address() as AddressInfo).port}`
  const egress = open('127.0.0.1')
  const [hung, dripped] = await Promise.all([post(egress, `${at}/hang`), post(egress, `${at}/drip`)])
  expect([hung.error?.reason, dripped.error?.reason]).toEqual(['timeout', 'timeout'])
  drip.closeAllConnections()
  drip.close()
})

const A = 1
const CNAME = 5
const AAAA = 28
/** A record of DNS: its type, and an address or a name. `of` is another name than the one that was asked for. */
type DnsRecord = { type: number; is: string; of?: string }
/** What a DNS server says: records, the code of a failure, or nothing at all. */
type Said = readonly DnsRecord[] | { code: number } | 'nothing'

const ofAddresses = (addresses: readonly string[]): DnsRecord[] =>
  addresses.map((is) => ({ type: is.includes(':') ? AAAA : A, is }))
const labels = (name: string): Buffer =>
  Buffer.concat([
    ...name.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label)])),
    Buffer.from([0]),
  ])
const dataOf = ({ type, is }: DnsRecord): Buffer =>
  type === CNAME ? labels(is) : Buffer.from(ipaddr.parse(is).toByteArray())

/** An answer of DNS: a pointer to the name or a name, the type, the internet, valid for no time, the data. */
function answerOf(question: Buffer, said: Exclude<Said, 'nothing'>): Buffer {
  const records = 'code' in said ? [] : said
  const header = Buffer.from(question.subarray(0, 12))
  header.writeUInt16BE(0x8180 + ('code' in said ? said.code : 0), 2)
  header.writeUInt16BE(records.length, 6)
  header.writeUInt32BE(0, 8)
  const written = records.map((record) => {
    const data = dataOf(record)
    const name = record.of === undefined ? Buffer.from([0xc0, 12]) : labels(record.of)
    const about = Buffer.from([0, record.type, 0, 1, 0, 0, 0, 0, data.length >> 8, data.length & 255])
    return Buffer.concat([name, about, data])
  })
  return Buffer.concat([header, question.subarray(12, question.indexOf(0, 12) + 5), ...written])
}

/** A DNS server: answers the nth question of each type with what it says then. Long answers come by TCP. */
async function openDns(say: (type: number, n: number) => Said) {
  const asked = new Map<number, number>()
  const answer = (question: Buffer): Buffer | undefined => {
    const type = question.readUInt16BE(question.indexOf(0, 12) + 1)
    const n = asked.get(type) ?? 0
    asked.set(type, n + 1)
    const said = say(type, n)
    return said === 'nothing' ? undefined : answerOf(question, said)
  }
  const tcp = createTcpServer((connection) => {
    connection.on('error', () => {})
    connection.on('data', (sent) => {
      const whole = answer(sent.subarray(2)) ?? Buffer.alloc(0)
      connection.write(Buffer.concat([Buffer.from([whole.length >> 8, whole.length & 255]), whole]))
    })
  })
  tcp.listen(0, '127.0.0.1')
  await once(tcp, 'listening')
  const { port: at } = tcp.address() as AddressInfo
  const socket = createSocket('udp4')
  socket.on('message', (question, from) => {
    const whole = answer(question)
    if (!whole) return
    const sent = whole.length > 1200 ? answerOf(question, []) : whole
    if (sent !== whole) sent.writeUInt16BE(0x8380, 2)
    socket.send(sent, from.port, from.address)
  })
  // The port is free for TCP, which connections of this machine hold; nothing else here holds one for UDP.
  socket.bind(at, '127.0.0.1')
  await once(socket, 'listening')
  const close = async () => {
    socket.close()
    tcp.close()
  }
  opened.push({ close } as unknown as Egress)
  return { resolve: systemResolver([`127.0.0.1:${at}`]), asked: () => asked.get(A) ?? 0 }
}

/** Answers questions for IPv4 with the next of the lists. */
const openLists = (answers: readonly (readonly string[])[]) =>
  openDns((type, n) => (type === A ? ofAddresses(answers[Math.min(n, answers.length - 1)] ?? []) : []))

test('a name whose DNS changes its answer reaches the address that was checked, and no other', async () => {
  // Only 127.0.0.1 may be reached; the sentinel answers at each address of this machine.
  const first = await openLists([['127.0.0.1'], ['127.0.0.2']])
  const egress = open('127.0.0.1', first.resolve)
  expect(await post(egress, `http://rebinding.example:${port}/first`)).toMatchObject({ status: 200 })
  expect(first.asked(), 'the connection asked again').toBe(1)
  // A connection that is kept is to the checked address; a new one is checked again.
  await egress.close()
  const again = await post(open('127.0.0.1', first.resolve), `http://rebinding.example:${port}/second`)
  expect(again.error).toMatchObject({ reason: 'blocked_address' })
  expect(first.asked()).toBe(2)
  expect(paths).toEqual(['/first'])
})

test('a name with an allowed and a forbidden address is refused, in whichever order its DNS answers', async () => {
  const before = connections
  for (const answer of [
    ['127.0.0.1', '127.0.0.2'],
    ['127.0.0.2', '127.0.0.1'],
  ]) {
    const { resolve } = await openLists([answer])
    const sent = await post(open('127.0.0.1', resolve), `http://mixed.example:${port}/mixed`)
    expect(sent.error).toMatchObject({ reason: 'blocked_address' })
  }
  expect([paths, connections]).toEqual([[], before])
})

const PUBLIC = '93.184.216.34'
const THOUSAND = Array.from({ length: 1000 }, (_, n) => `93.184.${n >> 8}.${n & 255}`)

test.each<[string, (type: number, n: number) => Said, string]>([
  [
    'the loopback of IPv6',
    (type) => (type === AAAA ? ofAddresses(['::1']) : ofAddresses([PUBLIC])),
    'blocked_address',
  ],
  ['a mapped address', (type) => (type === AAAA ? ofAddresses(['::ffff:127.0.0.1']) : []), 'blocked_address'],
  [
    'a translated address',
    (type) => (type === AAAA ? ofAddresses(['64:ff9b::7f00:1']) : []),
    'blocked_address',
  ],
  ['the address of any', (type) => (type === A ? ofAddresses(['0.0.0.0']) : []), 'blocked_address'],
  [
    'another name with its address',
    (type) => [
      { type: CNAME, is: 'localhost' },
      ...(type === A ? [{ type: A, is: '127.0.0.1', of: 'localhost' }] : []),
    ],
    'blocked_address',
  ],
  [
    'a thousand addresses, one of them private',
    (type) => (type === A ? ofAddresses([...THOUSAND, '127.0.0.1']) : []),
    'blocked_address',
  ],
  ['another name alone', () => [{ type: CNAME, is: 'localhost' }], 'connection_failed'],
  ['no name first', (_type, n) => (n === 0 ? { code: 3 } : ofAddresses(['127.0.0.1'])), 'connection_failed'],
  ['a failure', () => ({ code: 2 }), 'connection_failed'],
])('%s in the answer of DNS leads to no connection', async (_name, say, reason) => {
  const before = connections
  const { resolve } = await openDns(say)
  const sent = await post(open('', resolve), `http://answers.example:${port}/dns`)
  expect(sent.error).toMatchObject({ reason, message: expect.not.stringMatching(/\d/) })
  expect([paths, connections]).toEqual([[], before])
})

test('of a thousand addresses a few are tried', { tags: 'full' }, async () => {
  const { resolve } = await openDns((type) =>
    type === A ? ofAddresses(Array.from({ length: 1000 }, (_, n) => `127.9.${n >> 8}.${n & 255}`)) : [],
  )
  const tried = await new Promise<readonly { address: string }[]>((done, fail) =>
    guardedLookup(readPrivateHosts('127.0.0.0/8'), resolve)('many.example', { all: true }, (error, found) =>
      error ? fail(error) : done(found as { address: string }[]),
    ),
  )
  expect(tried.map(({ address }) => address)).toEqual(['127.9.0.0', '127.9.0.1', '127.9.0.2', '127.9.0.3'])
})

test('a request ends at its deadline, also while its name is looked up', { tags: 'full' }, async () => {
  const { resolve } = await openDns(() => 'nothing')
  const before = performance.now()
  const stopped = new AbortController()
  const url = `http://silent.example:${port}/`
  const request = { method: 'GET', url, headers: {}, timeoutMs: 200 } as const
  const late = open('', resolve).send(request)
  const cut = open('', resolve).send({ ...request, timeoutMs: 15_000 }, stopped.signal)
  stopped.abort()
  const isCut = await cut
  expect(isCut.error).toMatchObject({ reason: 'connection_failed' })
  expect((await late).error).toEqual({
    reason: 'timeout',
    message: 'There was no whole answer within 0.2 s.',
  })
  expect(performance.now() - before).toBeLessThan(1500)
})
