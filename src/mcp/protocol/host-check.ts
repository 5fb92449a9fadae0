import type { FastifyRequest } from 'fastify'
import { oneFault } from '../../foundation/errors.ts'

type Options = { host: string; publicUrl: string | undefined; corsOrigins: readonly string[] }

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

/**
 * Validates the Host and Origin headers to prevent DNS rebinding: a page of another site must not reach a
 * local server under its own host name.
 */
export function addressCheck({ host, publicUrl, corsOrigins }: Options) {
  const hosts = new Set([
    ...LOOPBACK,
    host.includes(':') ? `[${host}]` : host,
    ...(publicUrl ? [new URL(publicUrl).hostname] : []),
  ])
  const origins = new Set([...corsOrigins, ...(publicUrl ? [new URL(publicUrl).origin] : [])])
  return (request: FastifyRequest, _reply: unknown, done: () => void): void => {
    if (!hosts.has(hostname(request.headers.host ?? ''))) throw refused('Host')
    const { origin } = request.headers
    if (origin !== undefined && !origins.has(origin) && !isLoopback(origin)) throw refused('Origin')
    done()
  }
}

/** Host name without its port. */
const hostname = (host: string) => host.replace(/:\d+$/, '').toLowerCase()

function isLoopback(origin: string): boolean {
  try {
    return LOOPBACK.includes(new URL(origin).hostname)
  } catch {
    return false
  }
}

const refused = (header: string) =>
  oneFault('FORBIDDEN', `This ${header} is not served here.`, {
    path: `header/${header}`,
    code: 'not_served',
    message:
      'Set PLINTH_PUBLIC_URL to the address clients use, or PLINTH_CORS_ORIGINS to the pages that may call.',
  })
