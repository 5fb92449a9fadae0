import net from 'node:net'

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

/** Opens a proxy for a database on a TCP port or a Unix socket. Delays each answer by `delayMs`. */
export async function openProxy(databaseUrl: string, delayMs = 0): Promise<Proxy> {
  let target = databaseUrl
  const sockets = new Set<net.Socket>()
  const ways: { from: net.Socket; to: net.Socket; isAnswer: boolean }[] = []
  let isShut = false
  let silent: 'all' | 'answers' | undefined
  const server = net.createServer((inner) => {
    if (isShut) {
      inner.destroy()
      return
    }
    const outer = connectTo(target)
    for (const [from, to] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      const isAnswer = from === outer
      sockets.add(from)
      ways.push({ from, to, isAnswer })
      if (isAnswer && delayMs > 0) from.on('data', (data) => setTimeout(() => to.write(data), delayMs))
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
    open: (other = target) => {
      target = other
      isShut = false
    },
    close: async () => {
      shut()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function connectTo(databaseUrl: string): net.Socket {
  const { hostname, port, searchParams } = new URL(databaseUrl)
  const directory = searchParams.get('host')
  const at = Number(port || 5432)
  return directory?.startsWith('/') ? net.connect(`${directory}/.s.PGSQL.${at}`) : net.connect(at, hostname)
}
