/** Addresses of outgoing requests: what can be refused before a name is resolved. */
import { LIMITS } from '../limits.ts'
import { isAddress, isAllowedAddress, type PrivateHosts } from './allowed-addresses.ts'

/** Why a URL is refused, with what to send instead. */
export type UrlFault = { readonly code: string; readonly message: string }

/** Finds the fault of a URL as it is written; null if a request may try it. */
export function urlFault(text: string, allowed: PrivateHosts): UrlFault | null {
  if (text.length > LIMITS.urlChars)
    return fault('too_long', `A url can have at most ${LIMITS.urlChars} characters.`)
  if (!URL.canParse(text))
    return fault('invalid_url', 'Send a whole url, such as "https://example.com/hooks".')
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return fault('invalid_url', 'A url starts with https:// or http://.')
  if (url.username !== '' || url.password !== '')
    return fault('invalid_url', 'A url must not have a user name or password. Send them as a header.')
  const host = hostOf(url)
  if (allowed.hosts.has(host)) return null
  if (isAddress(host)) {
    if (!isAllowedAddress(host, allowed)) return blocked(host)
    if (isAllowedAddress(host, NONE)) return portFault(url)
    return null
  }
  if (isLoopbackName(host)) return allowsLoopback(allowed) ? null : blocked(host)
  return portFault(url)
}

const NONE: PrivateHosts = { hosts: new Set(), ranges: [] }

/** The host in lower case, without the brackets of IPv6 and the dot of a full name. */
const hostOf = ({ hostname }: URL): string =>
  hostname
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')

const isLoopbackName = (host: string): boolean => host === 'localhost' || host.endsWith('.localhost')

const allowsLoopback = (allowed: PrivateHosts): boolean =>
  isAllowedAddress('127.0.0.1', allowed) || isAllowedAddress('::1', allowed)

const FIRST_FREE_PORT = 1024

/** Ports of other services of the internet: mail, shells, directories. */
function portFault({ port }: URL): UrlFault | null {
  if (port === '' || port === '80' || port === '443' || Number(port) >= FIRST_FREE_PORT) return null
  return fault('blocked_port', `Port ${port} is not allowed. Use 80, 443 or a port from ${FIRST_FREE_PORT}.`)
}

const blocked = (host: string): UrlFault =>
  fault(
    'blocked_address',
    `"${host.slice(0, 64)}" is an address of this machine or of a private network. Send a public one, or list it in PLINTH_ALLOW_PRIVATE_TARGETS.`,
  )

const fault = (code: string, message: string): UrlFault => ({ code, message })
