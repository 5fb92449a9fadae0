import net from 'node:net'
import { Transform } from 'node:stream'

/** TCP proxy between the product and its database that simulates network failures. */
export type Proxy = {
  url: string
  shut(): void
  /** Accepts connections again, to another database if one is named. */
  open(databaseUrl?: string): void
  /**
   * Holds back all data, or only the data from the database, and keeps connections open: a hanging database.
   */
  silence(what: 'all' | 'answers'): void
  /** Drops all further data of the existing connections and keeps them open: a half-open connection. */
  forget(): void
  /** Forwards what was held back. */
  speak(): void
  close(): Promise<void>
}

/**
 * Opens a proxy for a database on a TCP port or a Unix socket. Delays each answer by `delayMs`.
 * @param answers what all answers of a connection pass through
 * @param others to which every other connection goes, in turn: a balancer
 */
export async function openProxy(
  databaseUrl: string,
  delayMs = 0,
  answers?: () => Transform,
  others: readonly string[] = [],
): Promise<Proxy> {
  let targets = [databaseUrl, ...others]
  let turn = 0
  const sockets = new Set<net.Socket>()
  const ways: { from: net.Socket; to: net.Socket; isAnswer: boolean }[] = []
  let isShut = false
  let silent: 'all' | 'answers' | undefined
  const server = net.createServer((inner) => {
    if (isShut) {
      inner.destroy()
      return
    }
    const outer = connectTo(targets[turn++ % targets.length] ?? databaseUrl)
    for (const [from, to] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      const isAnswer = from === outer
      sockets.add(from)
      ways.push({ from, to, isAnswer })
      if (isAnswer && answers) from.pipe(answers()).pipe(to)
      else if (isAnswer && delayMs > 0) from.on('data', (data) => setTimeout(() => to.write(data), delayMs))
      else if (!(silent === 'all' || (silent === 'answers' && isAnswer))) from.pipe(to)
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(databaseUrl)
  url.searchParams.delete('host')
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as net.AddressInfo).port)
  const shut = () => {
    isShut = true
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: url.href,
    shut,
    silence: (what) => {
      silent = what
      for (const { from, to, isAnswer } of ways) if (what === 'all' || isAnswer) from.unpipe(to).pause()
    },
    forget: () => {
      for (const { from, to } of ways.splice(0)) from.unpipe(to).pause()
    },
    speak: () => {
      silent = undefined
      for (const { from, to } of ways) if (!from.destroyed) from.unpipe(to).pipe(to)
    },
    open: (other) => {
      if (other !== undefined) targets = [other]
      isShut = false
    },
    close: async () => {
      shut()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Leaves out the notifications, as a pool does that hands a LISTEN to a connection which another client has next. */
export function withoutNotifications(): Transform {
  const NOTIFICATION = 0x41
  let rest = Buffer.alloc(0)
  return new Transform({
    transform(data: Buffer, _, done) {
      rest = Buffer.concat([rest, data])
      // A message is its type, a length that counts itself, and the body.
      while (rest.length >= 5 && rest.length > rest.readInt32BE(1)) {
        const end = 1 + rest.readInt32BE(1)
        if (rest[0] !== NOTIFICATION) this.push(rest.subarray(0, end))
        rest = rest.subarray(end)
      }
      done()
    },
  })
}

function connectTo(databaseUrl: string): net.Socket {
  const { hostname, port, searchParams } = new URL(databaseUrl)
  const directory = searchParams.get('host')
  const at = Number(port || 5432)
  return directory?.startsWith('/') ? net.connect(`${directory}/.s.PGSQL.${at}`) : net.connect(at, hostname)
}
