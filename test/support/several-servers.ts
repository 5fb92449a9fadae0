/** Several servers on one database, behind a balancer that gives each request to the next of them. */
import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { pathToFileURL } from 'node:url'
import { type ChildServer, type Shared, startChild } from './child-server.ts'
import { scratch } from './scratch.ts'

/** How many servers answer the requests of each test file: `PLINTH_TEST_SERVERS=3 npx vitest run …`. */
export const SERVERS = Number(process.env['PLINTH_TEST_SERVERS'] ?? 1)

export type Balancer = {
  readonly url: string
  /** What all of the servers are given. */
  readonly settings: Record<string, string>
  /** Starts the others, each in a process of its own, and gives all of them requests. */
  share(first: string, world: Shared, env: Record<string, string>): Promise<void>
  close(): Promise<void>
}

export async function openBalancer(): Promise<Balancer> {
  const contents = await scratch('plinth-contents-')
  const targets: URL[] = []
  const children: ChildServer[] = []
  let turn = 0
  const server = http.createServer({ maxHeaderSize: 64 * 1024 }, (request, response) => {
    const target = targets[turn++ % targets.length]
    // The headers stay as they are: the address of the client is that of the balancer.
    const onward = http.request({
      ...{ host: target?.hostname, port: target?.port, agent: false },
      ...{ method: request.method, path: request.url, headers: request.rawHeaders },
    })
    onward.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
      answer.pipe(response)
      answer.on('error', () => response.destroy())
    })
    onward.on('error', () => response.destroy())
    response.on('close', () => onward.destroy())
    request.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    settings: {
      PLINTH_PUBLIC_URL: url,
      PLINTH_BLOB_URL: pathToFileURL(contents).href,
      PLINTH_MASTER_KEY: randomBytes(32).toString('base64'),
    },
    share: async (first, world, env) => {
      targets.push(new URL(first))
      for (let n = 1; n < SERVERS; n++) {
        const child = await startChild(world, env)
        children.push(child)
        targets.push(new URL(child.url))
      }
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      for (const child of children) await child.kill()
      await rm(contents, { recursive: true, force: true })
    },
  }
}
