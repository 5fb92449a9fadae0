/** Signatures of deliveries, over the exact bytes of the body. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Signature } from '../../../contract/inbound-webhook-shapes.ts'
import { LIMITS } from '../../../foundation/limits.ts'

/** A delivery as it arrived. */
export type Arrived = {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
  /** The address that it was sent to, which some senders sign. */
  readonly url: string
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
  /** What is signed, and the key, for one of the secrets that are valid. */
  readonly signed: readonly (Buffer | string)[]
  keyOf?(secret: string): Buffer
  /** When it was sent, in milliseconds, if the scheme signs it. */
  readonly sentAt?: number
  readonly deliveryId?: string | undefined
  /** The signature is the secret itself. */
  readonly isSecret?: true
}

/** What is compared where there is no claim or no second secret, so that each refusal costs the same. */
const NO_SECRET = randomBytes(32).toString('hex')

/**
 * Checks the signature under one of the secrets, and the time where the scheme has one. Undefined if anything is missing
 * or wrong.
 */
export function verify(
  arrived: Arrived,
  signature: Signature,
  [secret, former = NO_SECRET]: readonly [string, string | undefined],
  now: number,
): Verified | undefined {
  const claim = CLAIMS[signature.scheme](headerReader(arrived), signature, arrived)
  const { algorithm = 'sha256', tolerance_seconds: tolerance = 0 } = signature
  const isSignedBy = (own: string): boolean => {
    const mac = createHmac(algorithm, claim?.keyOf?.(own) ?? own)
    for (const part of claim?.signed ?? [arrived.body]) mac.update(part)
    const expected = claim?.isSecret ? digest(own) : mac.digest()
    const given = claim?.signatures ?? []
    return given.some((each) => each.length === expected.length && timingSafeEqual(each, expected))
  }
  const isSigned = isSignedBy(secret) || (isSignedBy(former) && former !== NO_SECRET)
  if (!claim || !isSigned) return undefined
  const { sentAt, deliveryId = null } = claim
  if (sentAt !== undefined && Math.abs(now - sentAt) > tolerance * 1000) return undefined
  const isPing = signature.scheme === 'github' && arrived.headers['x-github-event'] === 'ping'
  return { deliveryId, isPing }
}

/** Secrets are compared by digests of one length. */
const digest = (secret: string): Buffer => createHmac('sha256', NO_SECRET).update(secret).digest()

type Header = (name: string) => string | undefined

const headerReader =
  ({ headers }: Arrived): Header =>
  (name) => {
    const value = headers[name.toLowerCase()]
    return typeof value === 'string' ? value : undefined
  }

type Read = (header: Header, signature: Signature, arrived: Arrived) => Claim | undefined

const CLAIMS: Readonly<Record<Signature['scheme'], Read>> = {
  standard(header, { header: own }, { body }) {
    // Senders that use Svix have its names.
    const brand = header('webhook-id') === undefined ? 'svix' : 'webhook'
    const [id, time] = [header(`${brand}-id`), header(`${brand}-timestamp`)]
    const sentAt = timeOf(time)
    if (!id || sentAt === undefined) return undefined
    const signatures = (header(own ?? `${brand}-signature`) ?? '').split(' ').flatMap((each) => {
      const [version, text = ''] = each.split(',', 2)
      return version === 'v1' ? decoded(text, 'base64') : []
    })
    const keyOf = (secret: string) => Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
    return { signatures, keyOf, signed: [`${id}.${time}.`, body], sentAt, deliveryId: id }
  },
  github: (header, { header: own = 'x-hub-signature-256' }, { body }) => ({
    signatures: prefixed(header(own), 'sha256=', 'hex'),
    signed: [body],
    deliveryId: header('x-github-delivery'),
  }),
  stripe(header, { header: own = 'stripe-signature' }, { body }) {
    const parts = (header(own) ?? '').split(',').map((part) => part.split('=', 2))
    const time = parts.find(([name]) => name === 't')?.[1]
    const sentAt = timeOf(time)
    if (sentAt === undefined) return undefined
    const signatures = parts.flatMap(([name, text = '']) => (name === 'v1' ? decoded(text, 'hex') : []))
    return { signatures, signed: [`${time}.`, body], sentAt }
  },
  slack(header, { header: own = 'x-slack-signature' }, { body }) {
    const time = header('x-slack-request-timestamp')
    const sentAt = timeOf(time)
    if (sentAt === undefined) return undefined
    return { signatures: prefixed(header(own), 'v0=', 'hex'), signed: [`v0:${time}:`, body], sentAt }
  },
  hmac(header, { header: own = '', prefix = '', encoding = 'hex', timestamp_header, signed }, arrived) {
    const time = timestamp_header === undefined ? undefined : header(timestamp_header)
    const sentAt = timeOf(time)
    if (timestamp_header !== undefined && sentAt === undefined) return undefined
    const template = signed ?? (time === undefined ? '{body}' : '{timestamp}.{body}')
    const values: Readonly<Record<string, Buffer | string | undefined>> = {
      ...{ '{timestamp}': time, '{body}': arrived.body, '{method}': 'POST', '{url}': arrived.url },
    }
    return {
      signatures: prefixed(header(own), prefix, encoding),
      signed: template.split(PLACEHOLDER).map((part) => values[part] ?? part),
      ...(sentAt !== undefined && { sentAt }),
    }
  },
  token(header, { header: own, prefix = '' }, { body }) {
    const given = own === undefined ? passwordIn(header('authorization')) : header(own)
    const secret = given?.startsWith(prefix) ? given.slice(prefix.length) : ''
    const isPossible = secret.length > 0 && secret.length <= LIMITS.inboundSecretChars
    return { signatures: isPossible ? [digest(secret)] : [], signed: [body], isSecret: true }
  },
}

/** The values in a template of what is signed. */
const PLACEHOLDER = /(\{(?:timestamp|body|method|url)\})/

/** The password of basic authentication. */
function passwordIn(authorization: string | undefined): string | undefined {
  const [, text] = /^basic +([A-Za-z0-9+/]{1,4096}={0,2})$/i.exec(authorization ?? '') ?? []
  return text && Buffer.from(text, 'base64').toString('utf8').split(/:(.*)/s)[1]
}

const prefixed = (text: string | undefined, prefix: string, encoding: 'hex' | 'base64'): Buffer[] =>
  text?.startsWith(prefix) ? decoded(text.slice(prefix.length), encoding) : []

const ENCODED = { hex: /^(?:[0-9a-f]{2}){1,64}$/i, base64: /^[A-Za-z0-9+/_-]{1,88}={0,2}$/ } as const

const decoded = (text: string, encoding: 'hex' | 'base64'): Buffer[] =>
  ENCODED[encoding].test(text.trim()) ? [Buffer.from(text.trim(), encoding)] : []

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

/** A time in milliseconds: RFC 3339, or Unix time, of which eleven digits or less are seconds. */
function timeOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^\d{1,14}$/.test(text)) return Number(text) * (text.length > 11 ? 1 : 1000)
  return RFC_3339.test(text) && !Number.isNaN(Date.parse(text)) ? Date.parse(text) : undefined
}
