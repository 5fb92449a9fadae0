import type { FastifyReply } from 'fastify'

/** Adds a header name to `Vary`. */
export function addVary(reply: FastifyReply, field: string): void {
  const known = reply.getHeader('vary')
  if (known === undefined) reply.header('vary', field)
  else if (!String(known).toLowerCase().split(', ').includes(field.toLowerCase()))
    reply.header('vary', `${known}, ${field}`)
}
