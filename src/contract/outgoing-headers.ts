/** Headers that triggers, steps of actions and external sources add to their requests. */
import { z } from 'zod'
import { LIMITS } from '../foundation/limits.ts'

/** The name of a header. */
export const HeaderName = z
  .string()
  .regex(
    /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/,
    'The name of a header has letters, digits and hyphens, at most 128 characters.',
  )
/** A line break would begin another header. */
export const HEADER_VALUE = /^[\x20-\x7e\t]*$/

export const HeaderValue = z
  .string()
  .max(LIMITS.triggerHeaderChars, `A header can have at most ${LIMITS.triggerHeaderChars} characters.`)

/** A value that is sent as it is written, but for secrets. */
export const WrittenHeaderValue = HeaderValue.regex(
  HEADER_VALUE,
  'A header has visible ASCII characters and spaces.',
)

/** Headers by their names, each with a value of the shape. */
export const outgoingHeaders = (value: z.ZodString) =>
  z
    .record(HeaderName, value)
    .refine(
      (headers) => Object.keys(headers).length <= LIMITS.triggerHeaders,
      `It can have at most ${LIMITS.triggerHeaders} headers.`,
    )

const OF_CONNECTION =
  /^(host|connection|content-length|transfer-encoding|te|trailer|upgrade|keep-alive|expect|proxy-.*)$/i

/**
 * Finds the fault of the name at `n`; null if it can be sent. `own`: what the sender sets itself, besides the headers
 * of the connection.
 */
export function headerNameFault(
  names: readonly string[],
  n: number,
  { sender, own }: { readonly sender: 'request' | 'delivery'; readonly own?: RegExp },
): { readonly code: string; readonly message: string } | null {
  const name = names[n] ?? ''
  if (OF_CONNECTION.test(name) || own?.test(name))
    return { code: 'reserved_header', message: `"${name}" is set by the ${sender} itself. Leave it out.` }
  if (names.findIndex((each) => each.toLowerCase() === name.toLowerCase()) < n)
    return {
      code: 'duplicate',
      message: `"${name}" is sent twice: upper and lower case are the same. Send it once.`,
    }
  return null
}
