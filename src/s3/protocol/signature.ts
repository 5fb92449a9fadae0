/** Signature Version 4: reads what a request claims, and checks it. */

import { createHash, createHmac, type Hmac, type Hash as NodeHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { createScope, getCanonicalHeaders, getSigningKey, SignatureV4Base } from '@smithy/signature-v4'
import { S3_ROOT } from '../../contract/s3-shapes.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { MINUTE_MS } from '../../foundation/units.ts'
import { type Address, encodeKey } from './address.ts'
import { S3Fault } from './fault.ts'

const ALGORITHM = 'AWS4-HMAC-SHA256'
const SERVICE = 's3'
const UNSIGNED = 'UNSIGNED-PAYLOAD'

/** What a request claims about its signature. Nothing of it is proven. */
export type Claim = {
  readonly accessKeyId: string
  readonly sessionToken: string | undefined
  /** `20261123T040000Z` */
  readonly longDate: string
  readonly region: string
  readonly signedHeaders: readonly string[]
  readonly signature: string
  /** What the signature says of the body: a digest in hex, or the name of a way to send it. */
  readonly payload: string
  /** Seconds that a presigned URL is valid; null for a signature in the headers. */
  readonly expires: number | null
}

/** A proven signature, with which the chunks of a body can be checked. */
export type Proof = {
  readonly key: Uint8Array
  readonly longDate: string
  readonly scope: string
  readonly signature: string
}

/**
 * Reads the signature of a request, from its headers or from its query.
 * @throws S3Fault if there is none, or it is malformed
 */
export function readClaim(headers: IncomingHttpHeaders, { query }: Address): Claim {
  const parameters = new Map(query)
  if (parameters.has('AWSAccessKeyId') || headers.authorization?.startsWith('AWS ')) throw ofV2()
  const isPresigned = parameters.has('X-Amz-Algorithm') || parameters.has('X-Amz-Signature')
  if (headers.authorization === undefined && !isPresigned)
    throw new S3Fault('AccessDenied', 'Sign the request with an S3 credential of this server.')
  if (headers.authorization !== undefined && isPresigned)
    throw new S3Fault('InvalidArgument', 'Sign the request in its headers or in its query, not in both.')
  return isPresigned ? ofQuery(parameters) : ofHeaders(headers, headers.authorization ?? '')
}

const ofV2 = () =>
  new S3Fault(
    'InvalidRequest',
    `Signature V2 is not supported. Sign with Signature V4 (${ALGORITHM}): set the region of the client to "auto", or its signature version to "s3v4".`,
  )

const HEADER =
  /^AWS4-HMAC-SHA256\s+Credential=([^\s,/]+)\/(\d{8})\/([^\s,/]+)\/([^\s,/]+)\/aws4_request\s*,\s*SignedHeaders=([^\s,]+)\s*,\s*Signature=([0-9a-f]{64})$/

function ofHeaders(headers: IncomingHttpHeaders, authorization: string): Claim {
  const malformed = (message: string) => new S3Fault('AuthorizationHeaderMalformed', message)
  const [, accessKeyId, day, region, service, signed, signature] = HEADER.exec(authorization) ?? []
  if (!accessKeyId || !day || !region || !signed || !signature || service !== SERVICE)
    throw malformed(`The Authorization header must have a Signature Version 4 (${ALGORITHM}) for s3.`)
  const longDate = String(headers['x-amz-date'] ?? '')
  if (!longDate.startsWith(day) || timeOf(longDate) === undefined)
    throw malformed('X-Amz-Date must be a time such as 20261123T040000Z, on the day of the credential.')
  const payload = headers['x-amz-content-sha256']
  if (typeof payload !== 'string')
    throw new S3Fault(
      'InvalidRequest',
      'Send X-Amz-Content-SHA256: the digest of the body, or UNSIGNED-PAYLOAD.',
    )
  return {
    accessKeyId,
    sessionToken: textOf(headers['x-amz-security-token']),
    longDate,
    region,
    signedHeaders: signed.split(';'),
    signature,
    payload,
    expires: null,
  }
}

const CREDENTIAL = /^([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request$/

function ofQuery(parameters: ReadonlyMap<string, string>): Claim {
  const malformed = (message: string) => new S3Fault('AuthorizationQueryParametersError', message)
  const value = (name: string) => parameters.get(`X-Amz-${name}`) ?? ''
  const [, accessKeyId, day, region, service] = CREDENTIAL.exec(value('Credential')) ?? []
  if (value('Algorithm') !== ALGORITHM || !accessKeyId || !day || !region || service !== SERVICE)
    throw malformed(`X-Amz-Algorithm must be ${ALGORITHM}, with an X-Amz-Credential for s3.`)
  const longDate = value('Date')
  if (!longDate.startsWith(day) || timeOf(longDate) === undefined)
    throw malformed('X-Amz-Date must be a time such as 20261123T040000Z, on the day of the credential.')
  const expires = Number(value('Expires') || Number.NaN)
  if (!Number.isInteger(expires) || expires < 1 || expires > LIMITS.s3SignedSeconds)
    throw malformed(`X-Amz-Expires must be a number of seconds from 1 to ${LIMITS.s3SignedSeconds}.`)
  return {
    accessKeyId,
    sessionToken: parameters.get('X-Amz-Security-Token'),
    longDate,
    region,
    signedHeaders: value('SignedHeaders').split(';'),
    signature: value('Signature'),
    payload: parameters.get('X-Amz-Content-Sha256') ?? UNSIGNED,
    expires,
  }
}

const textOf = (header: string | string[] | undefined) => (typeof header === 'string' ? header : undefined)

const LONG_DATE = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/

function timeOf(longDate: string): number | undefined {
  const time = Date.parse(longDate.replace(LONG_DATE, '$1-$2-$3T$4:$5:$6Z'))
  return LONG_DATE.test(longDate) && !Number.isNaN(time) ? time : undefined
}

/**
 * Checks the time of the signature: at most 15 minutes off, or within the validity of a presigned URL.
 * @throws S3Fault
 */
export function requireTimely({ longDate, expires }: Claim, now: number): void {
  const skew = now - (timeOf(longDate) ?? 0)
  const most = LIMITS.s3SkewMinutes * MINUTE_MS
  if (skew < -most || (expires === null && skew > most))
    throw new S3Fault(
      'RequestTimeTooSkewed',
      `X-Amz-Date is more than ${LIMITS.s3SkewMinutes} minutes from the time of the server. Set the clock of the client.`,
    )
  if (expires !== null && skew > expires * 1000)
    throw new S3Fault('AccessDenied', 'The presigned URL has expired. Create a new one.')
}

type Request = { method: string; headers: IncomingHttpHeaders; address: Address }
type Secrets = { secretAccessKey: string; sessionToken: string }

/**
 * Checks the signature in constant time.
 * @throws S3Fault
 */
export async function prove(request: Request, claim: Claim, secrets: Secrets): Promise<Proof> {
  requireAllSigned(request.headers, claim)
  if (!isEqual(claim.sessionToken ?? '', secrets.sessionToken))
    throw new S3Fault('InvalidTokenId', 'The session token is missing, or does not belong to the access key.')
  const day = claim.longDate.slice(0, 8)
  const scope = createScope(day, claim.region, SERVICE)
  const credentials = { accessKeyId: claim.accessKeyId, secretAccessKey: secrets.secretAccessKey }
  const key = await getSigningKey(Sha256, credentials, day, claim.region, SERVICE)
  for (const path of pathsOf(request.address)) {
    const text = await signer.text(request, path, claim, scope)
    if (isEqual(hmac(key, text), claim.signature))
      return { key, longDate: claim.longDate, scope, signature: claim.signature }
  }
  throw new S3Fault('SignatureDoesNotMatch', 'The signature does not match the request and the secret key.')
}

/** Clients sign the path as they send it, or encoded as S3 does; some leave the path of the endpoint out. */
const pathsOf = ({ path, isAtRoot }: Address): Set<string> => {
  const canonical = path
    .split('/')
    .map((part) => encodeKey(decodeURIComponent(part)))
    .join('/')
  const sent = [canonical, path]
  return new Set(isAtRoot ? sent : sent.flatMap((each) => [each, each.slice(S3_ROOT.length) || '/']))
}

/** A header that S3 acts on could otherwise be added to a signed request. */
function requireAllSigned(headers: IncomingHttpHeaders, { signedHeaders }: Claim): void {
  const signed = new Set(signedHeaders)
  const left = Object.keys(headers).find(
    (name) => name.startsWith('x-amz-') && name !== 'x-amz-user-agent' && !signed.has(name),
  )
  if (!signed.has('host') || left !== undefined)
    throw new S3Fault('AccessDenied', `The header ${left ?? 'host'} was sent and not signed. Sign it.`)
}

/** The signature of a text under a signing key, in hex. */
export const hmac = (key: Uint8Array, text: string): string =>
  createHmac('sha256', key).update(text).digest('hex')

/** Compares two texts in a time that does not depend on where they differ. */
export function isEqual(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => createHash('sha256').update(text).digest())
  return a !== undefined && b !== undefined && timingSafeEqual(a, b)
}

/** SHA-256 as the library calls it: with a key it is an HMAC. */
class Sha256 {
  #hash: NodeHash | Hmac
  readonly #secret: Parameters<typeof createHmac>[1] | undefined

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#secret = typeof secret === 'string' || secret === undefined ? secret : bytesOf(secret)
    this.#hash = this.#open()
  }

  #open(): NodeHash | Hmac {
    return this.#secret === undefined ? createHash('sha256') : createHmac('sha256', this.#secret)
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(typeof data === 'string' ? data : bytesOf(data))
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest()
  }

  reset(): void {
    this.#hash = this.#open()
  }
}

const bytesOf = (data: ArrayBuffer | ArrayBufferView): Uint8Array =>
  ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data)

/** The text to sign, by the rules of the library that clients sign with. */
class Signer extends SignatureV4Base {
  constructor() {
    const credentials = { accessKeyId: '', secretAccessKey: '' }
    super({
      credentials,
      region: '',
      service: SERVICE,
      sha256: Sha256,
      applyChecksum: false,
      uriEscapePath: false,
    })
  }

  text(
    { method, headers, address }: Request,
    path: string,
    { signedHeaders, longDate, payload }: Claim,
    scope: string,
  ): Promise<string> {
    const sent = Object.fromEntries(signedHeaders.map((name) => [name, signedValue(headers, name)]))
    const request = {
      method,
      protocol: 'http:',
      hostname: '',
      path,
      headers: sent,
      query: queryOf(address),
    }
    const canonical = getCanonicalHeaders(request, undefined, new Set(signedHeaders))
    const text = this.createCanonicalRequest(request, canonical, payload)
    return this.createStringToSign(longDate, scope, text, ALGORITHM)
  }
}

/** The value of a header. Node reads it as Latin-1, and clients sign it in UTF-8. */
const signedValue = (headers: IncomingHttpHeaders, name: string): string => {
  const value = [headers[name] ?? ''].flat().join(',')
  const text = Buffer.from(value, 'latin1').toString()
  return text.includes('\ufffd') ? value : text
}

function queryOf({ query }: Address): Record<string, string[]> {
  // Without a prototype: a parameter can have the name of a member of it.
  const all = Object.create(null) as Record<string, string[]>
  for (const [name, value] of query) all[name] = [...(all[name] ?? []), value]
  return all
}

const signer = new Signer()
