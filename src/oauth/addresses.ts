/** The MCP addresses of this server, as resources of OAuth. */
import type { FastifyRequest } from 'fastify'
import { isBaseId, isTypeId } from '../contract/ids.ts'

export type Names = { base_id?: string | undefined; endpoint_id?: string | undefined }
/** An MCP address, with the base and the endpoint that it names. */
export type Resource = { address: string; base: string | null; endpoint: string | null }

/** The address of the path parameters, whether or not it exists; undefined for invalid ids. */
export function pathOf({ base_id: base, endpoint_id: endpoint }: Names): string | undefined {
  if (base === undefined) return '/mcp'
  if (!isBaseId(base) || (endpoint !== undefined && !isTypeId(endpoint))) return undefined
  return endpoint === undefined ? `/mcp/${base}` : `/mcp/${base}/e/${endpoint}`
}

/** Public origin of this server. The Host header is validated before. */
export const originOf = ({ headers }: Pick<FastifyRequest, 'headers'>, publicUrl: string | undefined) =>
  publicUrl ?? `http://${headers.host ?? 'localhost'}`

const ADDRESS = /^\/mcp(?:\/([^/]+)(?:\/e\/([^/]+))?)?\/?$/

/** Reads an address as a client writes it, with options in its query or without. */
export function parseResource(text: string, origin: string): Resource | undefined {
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  const found = ADDRESS.exec(url.pathname)
  const [, base, endpoint] = found ?? []
  const path = found ? pathOf({ base_id: base, endpoint_id: endpoint }) : undefined
  const isHere = url.origin === new URL(origin).origin && url.username === '' && url.hash === ''
  if (!isHere || path === undefined) return undefined
  return { address: `${origin}${path}`, base: base ?? null, endpoint: endpoint ?? null }
}
