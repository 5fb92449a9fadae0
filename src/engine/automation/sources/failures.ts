/** Failures of sources. Each names the source and what was asked of it, in its details too. */
import { type Detail, invalid, oneFault, upstreamFailure } from '../../../foundation/errors.ts'
import type { SourceUse } from './find-source.ts'

type Of = Pick<SourceUse, 'source' | 'operation'>
type More = Partial<Pick<Detail, 'expected' | 'received'>>

const named = ({ source, operation }: Of, what: string) =>
  `The source "${source.name}" ${what} (${operation}).`

/** There was no answer. */
export const unreachable = (of: Of, why: string) =>
  failure(named(of, 'did not answer'), why, { code: 'source_unreachable' })

/** The answer is not one of success. */
export const refused = (of: Of, status: number, received: string) =>
  failure(named(of, `answered ${status}`), adviceFor(status), {
    code: 'source_refused',
    expected: '200 to 299',
    ...(received !== '' && { received }),
  })

function adviceFor(status: number): string {
  if (status >= 300 && status < 400 && status !== 304)
    return 'A redirect is not followed. Put the address that it leads to into the url.'
  if (status === 401 || status === 403)
    return 'It does not take the credential. Check the secret that auth names.'
  if (status === 429) return 'It takes no more requests for now. Try again later.'
  if (status >= 500) return 'The failure is in the other system. Try again later.'
  return 'It does not take the request. Check url, method and field_mapping of the source.'
}

/** The answer cannot be read as the source declares it. */
export const unreadable = (of: Of, why: string, more: More = {}) =>
  failure(named(of, 'answered what cannot be read'), why, { code: 'source_answer_invalid', ...more })

const failure = (what: string, why: string, rest: Pick<Detail, 'code'> & More) =>
  upstreamFailure(what, [{ path: '', message: `${what} ${why}`, ...rest }])

/** One request reads of several sources, or several times, more than it may keep. */
export const tooMuch = ({ source }: Of) =>
  invalid({
    path: '',
    code: 'too_large',
    message: `With that of the source "${source.name}", the answers of sources are too large for one request. Read them in several requests.`,
  })

/** An upstream 404. */
export const absent = ({ type, source, operation }: SourceUse, id: string | undefined) =>
  oneFault(
    'NOT_FOUND',
    id === undefined
      ? named({ source, operation }, 'answered 404')
      : `The source "${source.name}" has no record "${id}" of type "${type.id}".`,
    {
      path: id === undefined ? '' : '/id',
      code: id === undefined ? 'source_not_found' : 'record_not_found',
      message:
        id === undefined
          ? 'Check the url of the source.'
          : 'The id is the external_id in the source. List the records of the source to find it.',
    },
  )
