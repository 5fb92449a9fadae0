/** The S3-compatible gateway at /s3, and at the root of its own host. It fails in the XML errors of S3. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { S3_ROOT } from '../contract/s3-shapes.ts'
import { LIMITS } from '../foundation/limits.ts'
import type { OpenS3 } from '../graphql/content.ts'
import { closedSignal } from '../http/caller.ts'
import { refusal } from '../http/errors.ts'
import { originForm } from '../http/origin-form.ts'
import type { Charge, RateLimiter } from '../http/rate-limit.ts'
import type { Unsent } from '../http/unsent-bytes.ts'
import { type Call, findOperation, headersOf, type Result } from './operations/operation.ts'
import { type Address, readAddress } from './protocol/address.ts'
import { withoutChecksums } from './protocol/checksums.ts'
import { faultOf, S3Fault } from './protocol/fault.ts'
import { document } from './protocol/xml.ts'

export type S3Services = { openS3: OpenS3; limiter: RateLimiter; charge: Charge; unsent: Unsent }

/** Those of S3, and others, so that they too are refused in its terms. */
const METHODS = ['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'PATCH', 'OPTIONS'] as const

export function s3(services: S3Services) {
  return async (app: FastifyInstance): Promise<void> => {
    app.removeAllContentTypeParsers()
    // Bodies are read by the operations.
    app.addContentTypeParser('*', (_request, _payload, done) => done(null, undefined))
    app.setErrorHandler(sendFault)
    for (const url of [S3_ROOT, `${S3_ROOT}/*`])
      app.route({
        method: [...METHODS],
        url,
        exposeHeadRoute: false,
        compress: false,
        bodyLimit: LIMITS.fileBytesMax,
        config: { streams: '*' },
        handler: (request, reply) => handle(services, request, reply),
      })
  }
}

async function handle(
  { openS3, limiter, charge, unsent }: S3Services,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const address = readAddress(request.raw.url ?? '', sentUrl(request))
  // Loaded by the first request: the modules take memory that most servers do not need.
  const [{ openBody }, { OPERATIONS }] = await Promise.all([
    import('./protocol/body.ts'),
    import('./operations/table.ts'),
  ])
  try {
    const { method } = request
    const { claim, credential, proof } = await authenticate(openS3, request, address)
    const { tokenId, bucket } = credential
    request.calledBase = () => bucket
    const isPresigned = claim.expires !== null
    request.caller = credential.enter(
      request.id,
      () => closedSignal(reply),
      (bytes) => unsent.read(tokenId, reply, bytes),
    )
    limiter.take(tokenId, reply)
    unsent.admit(tokenId)
    const headers = headersOf(request.headers, address, isPresigned)
    const operation = findOperation(OPERATIONS, { method, headers }, address, isPresigned)
    request.about = () => [{ s3: operation.name }]
    if (address.bucket !== '' && address.bucket !== credential.bucket)
      throw new S3Fault(
        'AccessDenied',
        `The credential is for the bucket "${credential.bucket}". Send requests to that one.`,
      )
    const bodyHeaders = operation.checksums === 'object' ? withoutChecksums(headers) : headers
    const call: Call = {
      request,
      reply,
      context: request.caller,
      bucket: credential.bucket,
      key: address.key,
      headers,
      query: queryOf(address),
      header: (name) => textOf(headers[name]),
      body: () => openBody(request.raw, bodyHeaders, claim, proof),
      charge: (parts) => charge(request, reply, parts),
    }
    return send(reply, await operation.run(call))
  } catch (thrown) {
    if (request.caller === undefined && thrown instanceof S3Fault) limiter.fail(request.ip)
    throw thrown
  }
}

/**
 * Finds the credential of a request, and checks its signature and time.
 * @throws S3Fault
 */
async function authenticate(openS3: OpenS3, { method, headers }: FastifyRequest, address: Address) {
  const { readClaim, prove, requireTimely } = await import('./protocol/signature.ts')
  const claim = readClaim(headers, address)
  const credential = await openS3(claim.accessKeyId)
  if (!credential)
    throw new S3Fault(
      'InvalidAccessKeyId',
      'There is no such access key. It may have been revoked: create a new credential.',
    )
  const proof = await prove({ method, headers, address }, claim, credential)
  if (credential.isExpired) throw new S3Fault('ExpiredToken', 'The credential has expired. Create a new one.')
  requireTimely(claim, Date.now())
  return { claim, credential, proof }
}

/** The URL before the host of the gateway became a path. */
const sentUrl = ({ originalUrl }: FastifyRequest): string => originForm(originalUrl)

const textOf = (header: string | string[] | undefined) => (header === undefined ? undefined : String(header))

const queryOf = ({ query }: Address) => {
  const parameters = new Map(query)
  return (name: string) => parameters.get(name)
}

function send(reply: FastifyReply, result: Result): FastifyReply {
  if ('sent' in result) return result.sent
  const { status = 200, headers = {}, xml } = result
  reply.code(status).headers({ ...headers, 'x-amz-request-id': reply.request.id })
  return xml ? reply.type('application/xml').send(document(xml)) : reply.send()
}

function sendFault(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const fault = faultOf(refusal(thrown, request, reply))
  reply.code(fault.status).headers({ 'x-amz-request-id': request.id })
  reply.removeHeader('www-authenticate')
  if (request.method === 'HEAD') return void reply.send()
  const [path = ''] = sentUrl(request).split('?', 1)
  const xml = document(
    [
      'Error',
      [
        ['Code', fault.s3],
        ['Message', fault.message],
        ['Resource', path.slice(0, 2048)],
        ['RequestId', request.id],
      ],
    ],
    true,
  )
  reply.type('application/xml').send(xml)
}
