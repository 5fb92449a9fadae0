/** Addresses that an answer of the authorization server may go to. */
import { LOOPBACK } from '../../foundation/egress/allowed-addresses.ts'

/** Schemes that a browser runs or reads itself. */
const OF_BROWSERS =
  /^(javascript|data|vbscript|blob|file|filesystem|about|view-source|chrome|resource|jar|ftp|wss?|mailto|tel|intent|android-app)/

export const isLoopback = ({ protocol, hostname }: URL): boolean =>
  protocol === 'http:' && LOOPBACK.test(hostname)

/** Whether a client may name the address: https, this machine, or the scheme of an app. */
export function isRedirect(text: string): boolean {
  if (text.length > 2048 || !/^[\x21-\x7e]+$/.test(text) || !URL.canParse(text)) return false
  const url = new URL(text)
  if (text.includes('#') || text.includes('\\') || url.username !== '' || url.password !== '') return false
  if (url.protocol === 'https:' || url.protocol === 'http:')
    return url.hostname !== '' && (url.protocol === 'https:' || isLoopback(url))
  return /^[a-z][a-z0-9+.-]*:/.test(text) && !OF_BROWSERS.test(text)
}

/** Whether the address is the registered one. A program of this machine may listen at another port each time (RFC 8252, section 7.3). */
export function isSame(registered: string, sent: string): boolean {
  if (registered === sent) return true
  if (!isRedirect(sent)) return false
  const [one, other] = [new URL(registered), new URL(sent)]
  if (!isLoopback(one) || !isLoopback(other)) return false
  one.port = other.port
  return one.href === other.href
}

/** The address with an answer. */
export function withAnswer(
  redirectUri: string,
  answer: Readonly<Record<string, string | undefined>>,
): string {
  const url = new URL(redirectUri)
  for (const [name, value] of Object.entries(answer))
    if (value !== undefined) url.searchParams.set(name, value)
  return url.href
}

/** What a policy of contents names to allow the answer after a form. */
export function sourceOf(redirectUri: string): string {
  const url = new URL(redirectUri)
  return url.origin === 'null' ? url.protocol : url.origin
}
