import net from 'node:net'

/** A door between the product and its database that a test can shut. */
export type Proxy = { url: string; shut(): void; open(): void; close(): Promise<void> }

/** Stands before the database of that address, which may be a port or a Unix socket. */
export async function openProxy(databaseUrl: string): Promise<Proxy> {
  const target = new URL(databaseUrl)
  const port = Number(target.port || 5432)
  const directory = target.searchParams.get('host')
  const path = directory?.startsWith('/') && `${directory}/.s.PGSQL.${port}`
  const sockets = new Set<net.Socket>()
  let isShut = false
  const server = net.createServer((inner) => {
    if (isShut) {
      inner.destroy()
      return
    }
    const outer = path ? net.connect(path) : net.connect(port, target.hostname)
    for (const [from, to] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      sockets.add(from)
      from.pipe(to)
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
    open: () => {
      isShut = false
    },
    close: async () => {
      shut()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
