/** `max_string`: a read whose long strings are cut. */
import { z } from 'zod'
import { invalid } from '../../foundation/errors.ts'
import { isObject } from '../../foundation/is-object.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { cutStrings } from '../../json/cut-strings.ts'
import { NO_QUERY, whole } from './query.ts'
import type { Reply } from './reply.ts'

const SAYS = 'Cut longer strings of the answer to so many characters. `truncated` lists them.'
const maxString = whole(LIMITS.cutStringsLeast, LIMITS.cutStringsMost, undefined, SAYS)
const ofBody = z
  .int()
  .min(LIMITS.cutStringsLeast)
  .max(LIMITS.cutStringsMost)
  .optional()
  .meta({ description: SAYS })

export const Cuts = {
  truncated: z
    .array(z.object({ path: z.string(), size: z.int() }))
    .optional()
    .meta({
      description: `Present if \`max_string\` cut strings: where each is in the answer (JSON Pointer), and its bytes. At most ${LIMITS.cutStringsListed} are listed.`,
    }),
}

export const withMaxString = (query: z.ZodObject = NO_QUERY) => query.extend({ max_string: maxString })

/** The body of a read has the keys of its query. */
export const takingMaxString = <B extends z.ZodType | undefined>(body: B): B =>
  body instanceof z.ZodObject ? (body.extend({ max_string: ofBody }) as unknown as B) : body

/** The shape of an answer that may be cut. Named shapes that refuse unknown fields have `truncated` themselves. */
export function withCuts(answers: z.ZodType): z.ZodType {
  if (!(answers instanceof z.ZodObject)) return z.intersection(answers, z.looseObject(Cuts))
  return 'truncated' in answers.shape ? answers : answers.extend(Cuts)
}

type Most = { max_string?: number }

/** Takes `max_string` from the query or the body: the route does not know it. @throws VALIDATION_ERROR */
export function takeMaxString<P extends { query: unknown; body: unknown }>(
  parts: P,
  cuts: true | undefined,
): P & { most: number | undefined } {
  const { max_string: ofQuery, ...query } = parts.query as Most
  if (!cuts || !isObject(parts.body) || !('max_string' in parts.body))
    return { ...parts, query, most: ofQuery }
  const { max_string: most, ...body } = parts.body as Most
  if (ofQuery !== undefined && most !== undefined)
    throw invalid({
      path: '/max_string',
      code: 'duplicate',
      message: 'max_string is in the address and in the body. Send it once.',
    })
  return { ...parts, query, body, most: most ?? ofQuery }
}

/** An answer with cut strings has no ETag: what is written back must be the whole. */
export async function cutReply(reply: Reply, most: number): Promise<Reply> {
  const body = await cutStrings(reply.body, most)
  return 'truncated' in body && Array.isArray(body.truncated)
    ? { ...reply, body, etag: '' }
    : { ...reply, body }
}

export const cutsJson = (query: unknown) =>
  invalid({
    path: isObject(query) && 'max_string' in query ? 'query/max_string' : '/max_string',
    code: 'exclusive',
    message: 'max_string cuts the strings of JSON answers. Leave it out, or ask for JSON.',
  })
