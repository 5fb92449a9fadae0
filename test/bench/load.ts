/** The load: keep-alive connections, one request at a time on each, on bare sockets so that it takes little of the machine. */
import { connect, type Socket } from 'node:net'

/** Gives the bytes of the next request; all of them ASCII. */
export type Draw = () => string
export type Lap = { requests: number; seconds: number; latenciesMs: number[] }
export type Reply = { status: number; body: string }

/** How long a load goes on. */
type Amount = { readonly requests: number } | { readonly seconds: number }

/** Keeps `connections` requests in flight. @throws when an answer is not a success */
export async function load(url: string, draw: Draw, connections: number, amount: Amount): Promise<Lap> {
  const lines = await Promise.all(Array.from({ length: connections }, () => openLine(url)))
  const latenciesMs: number[] = []
  const begun = performance.now()
  let left = 'requests' in amount ? amount.requests : Number.POSITIVE_INFINITY
  const until = 'seconds' in amount ? begun + amount.seconds * 1000 : Number.POSITIVE_INFINITY
  const keepAsking = async (line: Line) => {
    for (let now = performance.now(); now < until && left > 0; ) {
      left--
      const { status, body } = await line.ask(draw(), false)
      if (status < 200 || status > 299)
        throw new Error(`The server answered ${status}: ${body.slice(0, 400)}`)
      const after = performance.now()
      latenciesMs.push(after - now)
      now = after
    }
  }
  try {
    await Promise.all(lines.map(keepAsking))
  } finally {
    for (const line of lines) line.close()
  }
  return { requests: latenciesMs.length, seconds: (performance.now() - begun) / 1000, latenciesMs }
}

/** Asks once, and reads the whole answer. */
export async function askOnce(url: string, request: string): Promise<Reply> {
  const line = await openLine(url)
  try {
    return await line.ask(request, true)
  } finally {
    line.close()
  }
}

export type Line = { ask(request: string, wholeBody: boolean): Promise<Reply>; close(): void }

/** One connection. A body is kept when it is asked for, or when the answer is a failure. */
export async function openLine(url: string): Promise<Line> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  let waiting:
    | { resolve: (reply: Reply) => void; reject: (error: Error) => void; wholeBody: boolean }
    | undefined
  const fail = (error: Error) => waiting?.reject(error)
  readReplies(socket, {
    keep: (status) => waiting?.wholeBody === true || status > 299,
    done: (reply) => waiting?.resolve(reply),
    fail,
  })
  socket.on('error', fail)
  socket.on('close', () => fail(new Error('The server closed the connection')))
  return {
    ask: (request, wholeBody) =>
      new Promise((resolve, reject) => {
        waiting = { resolve, reject, wholeBody }
        socket.write(request, 'latin1')
      }),
    close: () => socket.destroy(),
  }
}

type Reader = { keep(status: number): boolean; done(reply: Reply): void; fail(error: Error): void }

/** Reads answers one by one: to their Content-Length, or to the last of their chunks. */
function readReplies(socket: Socket, { keep, done, fail }: Reader): void {
  let status = 0
  let left = 0
  let chunked = false
  let kept: Buffer[] | undefined
  socket.on('data', (bytes: Buffer) => {
    let body = bytes
    if (left === 0) {
      const end = bytes.indexOf('\r\n\r\n')
      const head = bytes.toString('latin1', 0, Math.max(end, 0))
      const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
      chunked = length === undefined && /\r\ntransfer-encoding: *chunked/i.test(head)
      if (length === undefined && !chunked) return fail(new Error(`An answer without a length: ${head}`))
      status = Number(head.slice(9, 12))
      left = chunked ? Number.POSITIVE_INFINITY : Number(length)
      body = bytes.subarray(end + 4)
      kept = keep(status) ? [] : undefined
    }
    kept?.push(body)
    left -= body.length
    if (chunked && body.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK)) left = 0
    if (left <= 0) done({ status, body: kept ? Buffer.concat(kept).toString() : '' })
  })
}

const LAST_CHUNK = Buffer.from('0\r\n\r\n')

/** The bytes of a request. `headers` are whole lines, each with its line end. */
export function wire(method: string, path: string, headers: string, body?: string): string {
  const length =
    body === undefined ? '' : `content-type: application/json\r\ncontent-length: ${body.length}\r\n`
  return `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${headers}${length}\r\n${body ?? ''}`
}
