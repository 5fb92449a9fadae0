import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

const SOUND = /^[A-Za-z0-9._:-]{1,128}$/

export const newRequestId = (): string => randomUUID()

/** The client's `X-Request-Id` if it is valid, else a new id. */
export function requestIdOf(request: Pick<IncomingMessage, 'headers'>): string {
  const sent = request.headers['x-request-id']
  return typeof sent === 'string' && SOUND.test(sent) ? sent : newRequestId()
}
