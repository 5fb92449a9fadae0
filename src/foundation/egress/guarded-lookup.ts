/** Name resolution for outgoing requests: one answer, checked, which the connection then uses. */

import { lookup, Resolver } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import { LIMITS } from '../limits.ts'
import { isAllowedAddress, type PrivateHosts } from './allowed-addresses.ts'

/** An address that a name resolves to. */
type Resolved = { readonly address: string; readonly family: number }
export type Resolve = (host: string) => Promise<readonly Resolved[]>

/** The connection was refused by this server, and not tried. */
export class BlockedAddress extends Error {
  override readonly name = 'BlockedAddress'
}

/**
 * The `lookup` of a socket. It refuses a name if one of its addresses is not allowed. The socket connects to the
 * addresses of this answer, so that a second answer of the name has no effect.
 */
export function guardedLookup(allowed: PrivateHosts, resolve: Resolve): LookupFunction {
  return (host, options, callback) => {
    resolve(host).then(
      (found) => {
        const [first] = found
        if (!first) return callback(new Error(`${host} has no address`), '', 0)
        const isListed = allowed.hosts.has(host.toLowerCase().replace(/\.$/, ''))
        const bad = isListed ? undefined : found.find(({ address }) => !isAllowedAddress(address, allowed))
        if (bad) return callback(new BlockedAddress(`${host} is ${bad.address}`), '', 0)
        // A name can have thousands, each of which would be tried.
        const tried = [4, 6].flatMap((family) =>
          found.filter((each) => each.family === family).slice(0, LIMITS.addressesTried),
        )
        if (options.all) callback(null, tried)
        else callback(null, first.address, first.family)
      },
      (thrown: Error) => callback(thrown, '', 0),
    )
  }
}

/**
 * Resolves a name by DNS, which holds no thread however slow its servers are. A name that DNS does not have is
 * looked up in the system, which knows the file of hosts and search domains.
 * @param servers of DNS; those of the system by default
 */
export function systemResolver(servers?: readonly string[]): Resolve {
  const dns = new Resolver({ timeout: LIMITS.lookupMs, tries: LIMITS.lookupTries })
  if (servers) dns.setServers(servers)
  let running = 0
  const waiting: (() => void)[] = []
  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    const since = performance.now()
    if (running >= LIMITS.systemLookups) await new Promise<void>((resolve) => waiting.push(resolve))
    running++
    try {
      // Nobody waits for it any more, and others do.
      if (performance.now() - since > LIMITS.egressTimeoutMs) throw new Error('the look-up came too late')
      return await work()
    } finally {
      running--
      waiting.shift()?.()
    }
  }
  return async (host) => {
    const answers = await Promise.allSettled([dns.resolve4(host), dns.resolve6(host)])
    const found = answers.flatMap((answer, n) =>
      answer.status === 'fulfilled'
        ? answer.value.map((address): Resolved => ({ address, family: n === 0 ? 4 : 6 }))
        : [],
    )
    if (found.length > 0) return found
    const failed = answers.find((answer) => answer.status === 'rejected' && !isUnknown(answer.reason))
    if (failed?.status === 'rejected') throw failed.reason
    return inTurn(() => lookup(host, { all: true, order: 'verbatim' }))
  }
}

/** DNS answered that there is no such name or no such address, or the machine has no DNS. */
const isUnknown = (thrown: unknown): boolean =>
  ['ENOTFOUND', 'ENODATA', 'ECONNREFUSED'].includes((thrown as NodeJS.ErrnoException).code ?? '')
