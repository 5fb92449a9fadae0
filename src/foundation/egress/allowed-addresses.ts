/** Which addresses an outgoing request may reach: public ones, and those that the operator lists. */
import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Range = readonly [address: Address, bits: number]

/** Hosts that are not public and still allowed: host names, and ranges of addresses. */
export type PrivateHosts = { readonly hosts: ReadonlySet<string>; readonly ranges: readonly Range[] }

/** A host of this machine, as a URL writes it. */
export const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/

const HOST = /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/

/**
 * Reads a list such as `localhost, 10.0.0.0/8, ::1`.
 * @throws an Error that names the entry at fault
 */
export function readPrivateHosts(list: string): PrivateHosts {
  const hosts = new Set<string>()
  const ranges: Range[] = []
  for (const entry of list.split(',').map((each) => each.trim().toLowerCase())) {
    if (entry === '') continue
    const plain = entry.replace(/^\[(.*)\]$/, '$1')
    if (ipaddr.isValidCIDR(plain)) ranges.push(ipaddr.parseCIDR(plain))
    else if (isAddress(plain)) ranges.push(wholeRange(ipaddr.process(plain)))
    else if (HOST.test(entry) && !/^[\d.]+$/.test(entry)) hosts.add(entry)
    else throw new Error(`"${entry}" is not a host name, an address or a range such as 10.0.0.0/8`)
  }
  return { hosts, ranges }
}

const wholeRange = (address: Address): Range => [address, address.kind() === 'ipv4' ? 32 : 128]

/** Whether the text is an IP address, as a URL or a resolver writes it. */
export const isAddress = (text: string): boolean =>
  ipaddr.IPv6.isValid(text) || ipaddr.IPv4.isValidFourPartDecimal(text)

/** Whether a connection to the address is allowed. */
export function isAllowedAddress(text: string, { ranges }: PrivateHosts): boolean {
  if (!isAddress(text)) return false
  // An IPv6 form of an IPv4 address reaches that address.
  const address = ipaddr.process(text)
  return isPublic(address) || ranges.some((range) => isWithin(address, range))
}

function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false
  // Global unicast is 2000::/3. Others reach this network, or an IPv4 address that they embed.
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL)
}

const GLOBAL = ipaddr.IPv6.parseCIDR('2000::/3')

const isWithin = (address: Address, [start, bits]: Range): boolean =>
  address.kind() === start.kind() && (address as ipaddr.IPv4).match(start as ipaddr.IPv4, bits)
