import { invalid } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'

/** The longest statement, in bytes of UTF-8. */

/** The statement as text that can be parsed. @throws VALIDATION_ERROR at `/query` */
export function readText(query: unknown): string {
  const fault = (code: string, message: string, extra: object = {}) =>
    invalid({ path: '/query', code, message, ...extra })
  if (query === undefined)
    throw fault('required', 'Send the statement as "query", for example "SELECT count(*) FROM records".')
  if (typeof query !== 'string')
    throw fault('type', 'The query is the text of one SELECT.', { expected: 'string' })
  if (query.trim() === '')
    throw fault(
      'required',
      'The query is empty. Write one SELECT, for example "SELECT count(*) FROM records".',
    )
  const bytes = Buffer.byteLength(query)
  if (bytes > LIMITS.sqlTextBytes) {
    const message = `A query can have at most ${LIMITS.sqlTextBytes} bytes. Send long values and lists as parameters.`
    throw fault('too_long', message, { expected: LIMITS.sqlTextBytes, received: bytes })
  }
  // The parser would stop reading at a NUL, so that what follows were never checked.
  if (query.includes('\0') || !query.isWellFormed())
    throw fault('invalid_text', 'The query contains NUL or half of a surrogate pair. Send well-formed text.')
  return query
}
