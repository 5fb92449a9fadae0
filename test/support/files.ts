import { createHash } from 'node:crypto'
import { LIMITS } from '../../src/foundation/limits.ts'
import { succeed } from './answers.ts'
import type { Answer, Body, Call } from './server.ts'
import type { World } from './world.ts'

export const sha256 = (content: string | Uint8Array): string =>
  createHash('sha256').update(content).digest('hex')

/** A content that begins so and is too large for a row of the database. */
export const large = (beginning: string): string => beginning.padEnd(LIMITS.rowContentBytes + 1, '.')

/** Sends a file of a type in `crm` as text. */
export const putFile = (
  call: Call,
  type: string,
  path: string,
  content: string,
  headers: Record<string, string> = {},
): Promise<Answer> =>
  call('PUT', `/v1/crm/files/${type}/${path}`, content, { 'content-type': 'text/plain', ...headers })

/** Requests to the files of `crm`, by default of the type `docs`. */
export function filesIn(world: () => World) {
  const at = (path: string, type = 'docs') => `/v1/crm/files/${type}/${path}`
  const get = (path: string, headers = {}, type = 'docs') =>
    world().call('GET', at(path, type), undefined, headers)
  return {
    at,
    get,
    put: (path: string, content: string, headers = {}, type = 'docs') =>
      putFile(world().call, type, path, content, headers),
    meta: async (path: string, type = 'docs'): Promise<Body> =>
      succeed(await get(`${path}?meta=1`, {}, type)),
    list: async (query: string, type = 'docs'): Promise<Body> =>
      succeed(await world().call('GET', `/v1/crm/files/${type}?${query}`)),
    pathsOf: ({ data }: Body): string[] => data.map(({ path }: Body) => path),
    versionsOf: async (path: string, type = 'docs'): Promise<number[]> =>
      succeed(await get(`${path}?history`, {}, type)).data.map(({ version }: Body) => version),
    newType: async (id: string, body: object): Promise<Body> =>
      succeed(await world().call('PUT', `/v1/crm/file-types/${id}`, body), 201),
  }
}
