import { createHash } from 'node:crypto'
import type { Answer, Call } from './server.ts'

export const sha256 = (content: string | Uint8Array): string =>
  createHash('sha256').update(content).digest('hex')

/** Sends a file of a type in `crm` as text. */
export const putFile = (
  call: Call,
  type: string,
  path: string,
  content: string,
  headers: Record<string, string> = {},
): Promise<Answer> =>
  call('PUT', `/v1/crm/files/${type}/${path}`, content, { 'content-type': 'text/plain', ...headers })
