/** Signatures of deliveries, over the exact bytes of the body. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Signature } from '../../contract/inbound-webhook-shapes.ts'

/** A delivery as it arrived. */
export type Arrived = {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
}

/** What a verified delivery says of itself; null where its scheme has no such header. */
export type Verified = {
  readonly deliveryId: string | null
  /** GitHub asks whether the address is right. */
  readonly isPing: boolean
}

type Claim = {
  /** The signatures that the headers hold, decoded. One of them must be right. */
  readonly signatures: readonly Buffer[]
  readonly key: Buffer | string
  /** What is signed before the body. */
  readonly before: string
  /** When it was sent, in milliseconds, if the scheme signs it. */
  readonly sentAt: number | null
  readonly deliveryId: string | null
}

/** Checks the signature, and the time where the scheme has one. Undefined if anything is missing or wrong. */
export function verify(
  arrived: Arrived,
  signature: Signature,
  secret: string,
  now: number,
): Verified | undefined {
  const claim = CLAIMS[signature.scheme](headerReader(arrived), signature, secret)
  const { algorithm = 'sha256', tolerance_seconds: tolerance = 0 } = signature
  const expected = createHmac(algorithm, claim?.key ?? secret)
    .update(claim?.before ?? '')
    .update(arrived.body)
    .digest()
  if (!claim) return undefined
  const isSigned = claim.signatures.some(
    (given) => given.length === expected.length && timingSafeEqual(given, expected),
  )
  const isTimely = claim.sentAt === null || Math.abs(now - claim.sentAt) <= tolerance * 1000
  if (!isSigned || !isTimely) return undefined
  const isPing = signature.scheme === 'github' && arrived.headers['x-github-event'] === 'ping'
  return { deliveryId: claim.deliveryId, isPing }
}

type Header = (name: string) => string | undefined

const headerReader =
  ({ headers }: Arrived): Header =>
  (name) => {
    const value = headers[name.toLowerCase()]
    return typeof value === 'string' ? value : undefined
  }

type Read = (header: Header, signature: Signature, secret: string) => Claim | undefined

const CLAIMS: Readonly<Record<Signature['scheme'], Read>> = {
  standard(header, { header: own = 'webhook-signature' }, secret) {
    const [id, time] = [header('webhook-id'), header('webhook-timestamp')]
    const sentAt = timeOf(time)
    if (!id || sentAt === undefined) return undefined
    const signatures = (header(own) ?? '').split(' ').flatMap((each) => {
      const [version, text = ''] = each.split(',', 2)
      return version === 'v1' ? decoded(text, 'base64') : []
    })
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
    return { signatures, key, before: `${id}.${time}.`, sentAt, deliveryId: id }
  },
  github: (header, { header: own = 'x-hub-signature-256' }, secret) => ({
    signatures: prefixed(header(own), 'sha256=', 'hex'),
    key: secret,
    before: '',
    sentAt: null,
    deliveryId: header('x-github-delivery') ?? null,
  }),
  stripe(header, { header: own = 'stripe-signature' }, secret) {
    const parts = (header(own) ?? '').split(',').map((part) => part.split('=', 2))
    const time = parts.find(([name]) => name === 't')?.[1]
    const sentAt = timeOf(time)
    if (sentAt === undefined) return undefined
    const signatures = parts.flatMap(([name, text = '']) => (name === 'v1' ? decoded(text, 'hex') : []))
    return { signatures, key: secret, before: `${time}.`, sentAt, deliveryId: null }
  },
  slack(header, { header: own = 'x-slack-signature' }, secret) {
    const time = header('x-slack-request-timestamp')
    const sentAt = timeOf(time)
    if (sentAt === undefined) return undefined
    return {
      signatures: prefixed(header(own), 'v0=', 'hex'),
      key: secret,
      before: `v0:${time}:`,
      sentAt,
      deliveryId: null,
    }
  },
  hmac(header, { header: own = '', prefix = '', encoding = 'hex', timestamp_header }, secret) {
    const time = timestamp_header === undefined ? undefined : header(timestamp_header)
    const sentAt = timeOf(time)
    if (timestamp_header !== undefined && sentAt === undefined) return undefined
    return {
      signatures: prefixed(header(own), prefix, encoding),
      key: secret,
      before: time === undefined ? '' : `${time}.`,
      sentAt: sentAt ?? null,
      deliveryId: null,
    }
  },
}

const prefixed = (text: string | undefined, prefix: string, encoding: 'hex' | 'base64'): Buffer[] =>
  text?.startsWith(prefix) ? decoded(text.slice(prefix.length), encoding) : []

const ENCODED = { hex: /^(?:[0-9a-f]{2}){1,64}$/i, base64: /^[A-Za-z0-9+/_-]{1,88}={0,2}$/ } as const

const decoded = (text: string, encoding: 'hex' | 'base64'): Buffer[] =>
  ENCODED[encoding].test(text.trim()) ? [Buffer.from(text.trim(), encoding)] : []

/** A Unix time in milliseconds. Eleven digits or less are seconds. */
const timeOf = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,14}$/.test(text) ? Number(text) * (text.length > 11 ? 1 : 1000) : undefined
