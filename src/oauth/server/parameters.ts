/** Parameters of OAuth: forms and queries, of which each may come once. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { LIMITS } from '../../foundation/limits.ts'
import { parseResource, type Resource } from '../addresses.ts'
import { refused } from './failures.ts'

export type Parameters = Readonly<Record<string, string>>
/** The form of the consent has a box for each type that it shows. */
const MOST = LIMITS.pageMax + 100

/** Takes forms in this part of the server. */
export function acceptUrlEncoded(app: FastifyInstance): void {
  const type = 'application/x-www-form-urlencoded'
  app.addContentTypeParser<string>(type, { parseAs: 'string' }, async (_: unknown, body: string) =>
    parametersOf(body),
  )
}

/** The parameters of a body. Another media type has been refused. */
export const formOf = ({ body }: FastifyRequest): Parameters => (body ?? {}) as Parameters

/**
 * Reads parameters. Unknown ones stay, because OAuth ignores them.
 * @throws invalid_request if there are too many, one comes twice, or has a character that nothing can have
 */
export function parametersOf(text: string): Parameters {
  if (text.split('&', MOST + 1).length > MOST)
    throw refused('invalid_request', `There are more than ${MOST} parameters. Send fewer.`)
  const read = [...new URLSearchParams(text)]
  const sent = new Map(read)
  if (sent.size < read.length)
    throw refused('invalid_request', 'A parameter comes twice. Send each once.', '')
  const broken = read.find(([, value]) => value.includes('\0'))
  if (broken)
    throw refused('invalid_request', `The parameter ${broken[0]} has a null character. Leave it out.`)
  return Object.fromEntries(sent)
}

/** @throws invalid_request if the parameter is missing, empty or too long */
export function required(sent: Parameters, name: string, most = 2048): string {
  const value = sent[name]
  if (value === undefined || value === '')
    throw refused('invalid_request', `The parameter ${name} is missing.`, `/${name}`)
  if (value.length > most)
    throw refused('invalid_request', `The parameter ${name} has more than ${most} characters.`, `/${name}`)
  return value
}

/**
 * The address of this server that the client wants to use (RFC 8707); undefined if it names none.
 * @throws invalid_target for another
 */
export function resourceIn({ resource }: Parameters, origin: string): Resource | undefined {
  if (resource === undefined) return undefined
  const found = parseResource(resource, origin)
  if (!found)
    throw refused(
      'invalid_target',
      `The resource is no MCP address of this server, such as ${origin}/mcp.`,
      '/resource',
    )
  return found
}
