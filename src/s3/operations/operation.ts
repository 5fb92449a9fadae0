/** What an operation of S3 is: a row with what selects it, what it takes, and what runs it. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../graphql/context.ts'
import type { Address } from '../protocol/address.ts'
import type { Body } from '../protocol/body.ts'
import { S3Fault } from '../protocol/fault.ts'
import type { Element } from '../protocol/xml.ts'

/** A request, authenticated. */
export type Call = {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly context: Context
  readonly bucket: string
  readonly key: string
  readonly headers: FastifyRequest['headers']
  /** A parameter of the query; undefined if it was not sent. */
  query(name: string): string | undefined
  /** A header; undefined if it was not sent. */
  header(name: string): string | undefined
  body(): Promise<Body>
  /** Counts the parts of a request that is as much work as several. */
  charge(parts: number): void
}

/** A response: a document, or nothing but headers. A sent one is the reply itself. */
export type Result =
  | { status?: number; headers?: Record<string, string>; xml?: Element }
  | { sent: FastifyReply }

export type Operation = {
  /** Its name in S3. */
  readonly name: string
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  readonly on: 'service' | 'bucket' | 'object'
  /** Parameters and headers that select it; of two rows that fit, the first runs. */
  readonly with?: readonly string[]
  readonly header?: string
  /** Further parameters that it takes. */
  readonly takes?: readonly string[]
  /** What the checksums in its headers are of; the body by default. */
  readonly checksums?: 'object'
  readonly run: (call: Call) => Promise<Result>
}

/** The parameter that SDKs repeat the name of the operation in. */
const NAME = 'x-id'
/** Parameters of a presigned URL: its signature, and the headers that it replaces. */
const PRESIGNED = /^x-amz-/i
/** Checksums in a presigned URL are of the body that its maker had, which is none. */
const OF_NO_BODY = /^x-amz-(checksum-|sdk-checksum-)/i

/** The headers of a request, with those that a presigned URL carries. */
export function headersOf(
  headers: FastifyRequest['headers'],
  { query }: Address,
  isPresigned: boolean,
): FastifyRequest['headers'] {
  if (!isPresigned) return headers
  const hoisted = query
    .filter(([name]) => PRESIGNED.test(name) && !OF_NO_BODY.test(name))
    .map(([name, value]) => [name.toLowerCase(), Buffer.from(value).toString('latin1')])
  return { ...Object.fromEntries(hoisted), ...headers }
}

/**
 * The operation of a request. A parameter that it does not take would be another operation.
 * @throws S3Fault
 */
export function findOperation(
  operations: readonly Operation[],
  { method, headers }: { method: string; headers: FastifyRequest['headers'] },
  { bucket, key, query }: Address,
  isPresigned: boolean,
): Operation {
  const on = key !== '' ? 'object' : bucket !== '' ? 'bucket' : 'service'
  const names = query.map(([name]) => name)
  const found = operations.find(
    (row) =>
      row.method === method &&
      row.on === on &&
      (row.with ?? []).every((name) => names.includes(name)) &&
      (row.header === undefined || headers[row.header] !== undefined),
  )
  if (!found)
    throw new S3Fault(
      'MethodNotAllowed',
      `This server has no operation for ${method} on a ${on} with these parameters.`,
    )
  const taken = new Set([...(found.with ?? []), ...(found.takes ?? [])])
  const isCommon = (name: string) => name === NAME || (isPresigned && PRESIGNED.test(name))
  const other = names.find((name) => !taken.has(name) && !isCommon(name))
  if (other !== undefined)
    throw new S3Fault('NotImplemented', `${found.name} does not take "${other.slice(0, 64)}" here.`)
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) throw new S3Fault('InvalidArgument', `"${twice.slice(0, 64)}" was sent twice.`)
  requireKnownHeaders(headers)
  if (method === 'PUT' || method === 'POST') requireNoProperties(headers)
  return found
}

/** Headers that would store or delete a file in another way than this server does. */
const REFUSED =
  /^x-amz-(server-side-encryption|copy-source-server-side|tagging|object-lock|grant-|website-redirect|write-offset|if-match-)/
const ACLS = ['private', 'bucket-owner-full-control']
/** Encodings that end with the request. A reader would not know of another one. */
const ENCODINGS = ['', 'identity', 'aws-chunked']

/** Properties of an object that a file does not have. Clients send some of these values without asking for any. */
const PROPERTIES: Readonly<Record<string, RegExp>> = {
  'cache-control': /^(no-cache|no-store|max-age=0)$/i,
  'content-disposition': /^$/,
  'content-language': /^$/,
  expires: /^$/,
  'x-amz-storage-class': /^STANDARD$/,
}

function requireNoProperties(headers: FastifyRequest['headers']): void {
  const dropped = Object.entries(PROPERTIES).find(([name, common]) => {
    const value = headers[name]
    return value !== undefined && !common.test(String(value))
  })
  if (!dropped) return
  const [name] = dropped
  throw new S3Fault(
    'NotImplemented',
    `A file does not keep "${name}". Leave it out; a signed URL of a download can set most headers of its response, such as response-content-disposition.`,
  )
}

function requireKnownHeaders(headers: FastifyRequest['headers']): void {
  const refused = Object.keys(headers).find((name) => REFUSED.test(name))
  const acl = headers['x-amz-acl']
  if (refused !== undefined || (acl !== undefined && !ACLS.includes(String(acl))))
    throw new S3Fault(
      'NotImplemented',
      `This server does not support "${refused ?? 'x-amz-acl'}". Leave it out.`,
    )
  const encodings = String(headers['content-encoding'] ?? '').split(',')
  const encoding = encodings.find((each) => !ENCODINGS.includes(each.trim().toLowerCase()))
  if (encoding !== undefined)
    throw new S3Fault(
      'NotImplemented',
      `This server does not keep the Content-Encoding "${encoding.trim().slice(0, 64)}". Send the content without it.`,
    )
}
