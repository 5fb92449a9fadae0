/** `max_string`: a read whose long strings are cut. */
import { z } from 'zod'
import { invalid } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { cutStrings } from '../../json/cut-strings.ts'
import { NO_QUERY, whole } from './query.ts'
import type { Reply } from './reply.ts'

const maxString = whole(
  LIMITS.cutStringsLeast,
  LIMITS.cutStringsMost,
  undefined,
  'Cut longer strings of the answer to so many characters. `truncated` lists them.',
)

export const Cuts = {
  truncated: z
    .array(z.object({ path: z.string(), size: z.int() }))
    .optional()
    .meta({
      description: `Present if \`max_string\` cut strings: where each is in the answer (JSON Pointer), and its bytes. At most ${LIMITS.cutStringsListed} are listed.`,
    }),
}

export const withMaxString = (query: z.ZodObject = NO_QUERY) => query.extend({ max_string: maxString })

/** The shape of an answer that may be cut. Named shapes that refuse unknown fields have `truncated` themselves. */
export function withCuts(answers: z.ZodType): z.ZodType {
  if (!(answers instanceof z.ZodObject)) return z.intersection(answers, z.looseObject(Cuts))
  return 'truncated' in answers.shape ? answers : answers.extend(Cuts)
}

/** Takes `max_string` from the query, which the route does not know. */
export function takeMaxString<P extends { query: unknown }>(parts: P): P & { most: number | undefined } {
  const { max_string: most, ...query } = parts.query as { max_string?: number }
  return { ...parts, query, most }
}

/** An answer with cut strings has no ETag: what is written back must be the whole. */
export async function cutReply(reply: Reply, most: number): Promise<Reply> {
  const body = await cutStrings(reply.body, most)
  return 'truncated' in body && Array.isArray(body.truncated)
    ? { ...reply, body, etag: '' }
    : { ...reply, body }
}

export const cutsJson = () =>
  invalid({
    path: 'query/max_string',
    code: 'exclusive',
    message: 'max_string cuts the strings of JSON answers. Leave it out, or ask for JSON.',
  })
