/** Reads and checks the request of a client, before its document is parsed. */
import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { check, inPart } from '../../contract/validate.ts'
import { invalid } from '../../foundation/errors.ts'
import { isObject } from '../../foundation/is-object.ts'
import { parseJson } from '../../json/parse.ts'
import { isKnownText } from './documents.ts'
import { checkTextSize } from './query-limits.ts'

/** Headers of a REST write. A document can have several writes, so that each says these things in arguments. */
const WRITE_HEADERS = [
  { name: 'Idempotency-Key', message: 'In GraphQL the key is an argument of each mutation: idempotencyKey.' },
  {
    name: 'If-Match',
    message: 'In GraphQL the expected version is an argument of each mutation that checks it.',
  },
  {
    name: 'If-None-Match',
    message: 'In GraphQL, send a create mutation, or the argument mustBeAbsent of a put.',
  },
].map((each) => ({ ...each, header: each.name.toLowerCase() }))

/** What a client sent. */
export type Sent = { query?: unknown; variables?: unknown; operationName?: unknown; extensions?: unknown }

/**
 * The request of a POST body, or of the parameters of a GET.
 * @throws VALIDATION_ERROR
 */
export function checkRequest(request: FastifyRequest): Sent {
  for (const { name, header, message } of WRITE_HEADERS)
    if (request.headers[header] !== undefined)
      throw invalid({ path: `header/${name}`, code: 'not_here', message })
  if (request.method === 'POST') refuseParameters(request)
  const isPost = request.method === 'POST'
  const sent = isPost ? readBody(request) : readParameters(request)
  if (sent.query == null && hashOf(sent) === undefined)
    throw invalid({
      path: isPost ? '/query' : 'query/query',
      code: 'required',
      message: '"query" is required: the text of a GraphQL document, such as "{ bases { data { id } } }".',
      expected: 'string',
    })
  if (!isKnownText(sent.query)) checkTextSize(sent.query)
  return sent
}

/** @throws VALIDATION_ERROR */
function readBody({ body }: FastifyRequest): Sent {
  if (isObject(body)) {
    const { operationName: name } = body
    if (name == null || typeof name === 'string') return body
    throw invalid({
      path: '/operationName',
      code: 'type',
      message: '"operationName" must be a string: the name of an operation of the document.',
      expected: 'string',
    })
  }
  throw invalid({
    path: '',
    code: body === undefined ? 'required' : 'type',
    message:
      'The body must be an object {"query", "variables"?, "operationName"?}, sent as application/json. Send one request at a time.',
    expected: 'object',
  })
}

const PARAMETERS = z.strictObject({
  query: z.string().optional(),
  operationName: z.string().optional(),
  variables: z.string().optional(),
  extensions: z.string().optional(),
})

/** @throws VALIDATION_ERROR */
function readParameters(request: FastifyRequest): Sent {
  const raw = request.query as Record<string, unknown>
  const twice = Object.keys(raw).find((name) => Array.isArray(raw[name]))
  if (twice !== undefined)
    throw invalid({
      path: `query/${twice}`,
      code: 'duplicate',
      message: `"${twice}" is given more than once.`,
    })
  const { query, ...texts } = check(PARAMETERS, raw, inPart('query'))
  const read = (name: 'variables' | 'extensions') => {
    const value = texts[name] === undefined ? undefined : parseJson(texts[name], `query/${name}`)
    if (value === undefined || value === null || isObject(value)) return value
    throw invalid({
      path: `query/${name}`,
      code: 'type',
      message: `"${name}" must be an object as JSON.`,
      expected: 'object',
    })
  }
  read('variables')
  return { ...(query !== undefined && { query }), extensions: read('extensions') }
}

const hashOf = ({ extensions }: Sent): unknown => {
  const persisted = isObject(extensions) ? extensions['persistedQuery'] : undefined
  return isObject(persisted) ? persisted['sha256Hash'] : undefined
}

/**
 * Whether a client names a persisted query and expects the server to have its text.
 * @throws VALIDATION_ERROR for the hash of another text
 */
export function isWithoutText(sent: Sent): boolean {
  const hash = hashOf(sent)
  if (hash === undefined || typeof sent.query !== 'string') return hash !== undefined && !sent.query
  if (hash === createHash('sha256').update(sent.query).digest('hex')) return false
  throw invalid({
    path: '/extensions/persistedQuery/sha256Hash',
    code: 'disagrees',
    message: 'The hash is not that of the query. Send the SHA-256 of the text of the query, or leave it out.',
  })
}

/** @throws VALIDATION_ERROR */
export function refuseParameters(request: FastifyRequest): void {
  const [unknown] = Object.keys(request.query as object)
  if (unknown !== undefined)
    throw invalid({
      path: `query/${unknown.slice(0, 64)}`,
      code: 'unknown_key',
      message: 'The URL of a POST takes no parameters. Send query, variables and operationName in the body.',
    })
}
