import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../config.ts'

type Hook = (request: FastifyRequest, reply: FastifyReply) => Promise<void>
export function mcp(_identify: Hook, _config: Config) {
  return async (_app: FastifyInstance): Promise<void> => {}
}
