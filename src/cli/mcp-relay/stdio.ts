import { createInterface } from 'node:readline'
import { toFailure } from '../command/failure.ts'
import type { Server } from './http.ts'
import { Relay } from './relay.ts'
import { Upstream } from './upstream.ts'

const DRAIN_MS = 5000

type Ends = {
  /** Locates the server; called again after a connection is lost. */
  find: () => Promise<Server>
  path: string
  log: (text: string) => void
}

/**
 * Relays MCP between standard input/output and a server, until the input ends, nobody reads the output or a signal
 * arrives. Standard output carries the protocol, so other output of the process is redirected to standard error.
 */
export async function relayStdio({ find, path, log }: Ends): Promise<void> {
  const write = process.stdout.write.bind(process.stdout)
  process.stdout.write = process.stderr.write.bind(process.stderr)
  const upstream = new Upstream(find, path)
  const relay = new Relay(upstream, { write: (line) => void write(line), log })
  upstream.connect().catch((error: unknown) => log(toFailure(error).message))

  const lines = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => lines.close())
  // A reader that is gone ends the relay, not the process, which may have a server to close.
  process.stdout.removeAllListeners('error').on('error', () => lines.close())
  for await (const line of lines) await relay.take(line)

  await relay.drain(DRAIN_MS)
  await upstream.close()
  await new Promise((resolve) => write('', resolve))
}
