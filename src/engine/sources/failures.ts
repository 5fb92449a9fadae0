/** Failures of sources. Each names the source and what was asked of it. */
import { type Detail, DomainError, invalid, upstreamFailure } from '../../foundation/errors.ts'
import type { SourceUse } from './find-source.ts'

type Of = Pick<SourceUse, 'source' | 'operation'>
type More = Partial<Pick<Detail, 'expected' | 'received'>>

const named = ({ source, operation }: Of, what: string) =>
  `The source "${source.name}" ${what} (${operation}).`

/** There was no answer. */
export const unreachable = (of: Of, why: string) =>
  upstreamFailure(named(of, 'did not answer'), [{ path: '', code: 'source_unreachable', message: why }])

/** The answer is not one of success. */
export const refused = (of: Of, status: number, received: string) =>
  upstreamFailure(named(of, `answered ${status}`), [
    {
      path: '',
      code: 'source_refused',
      message: adviceFor(status),
      expected: '200 to 299',
      ...(received !== '' && { received }),
    },
  ])

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
export const unreadable = (of: Of, message: string, more: More = {}) =>
  upstreamFailure(named(of, 'answered what cannot be read'), [
    { path: '', code: 'source_answer_invalid', message, ...more },
  ])

/** One request reads of several sources, or several times, more than it may keep. */
export const tooMuch = ({ source }: Of) =>
  invalid({
    path: '',
    code: 'too_large',
    message: `With that of the source "${source.name}", the answers of sources are too large for one request. Read them in several requests.`,
  })

/** An upstream 404. */
export const absent = ({ type, source, operation }: SourceUse, id: string | undefined) =>
  new DomainError(
    'NOT_FOUND',
    id === undefined
      ? named({ source, operation }, 'answered 404')
      : `The source "${source.name}" has no record "${id}" of type "${type.id}".`,
    {
      details: [
        {
          path: id === undefined ? '' : '/id',
          code: id === undefined ? 'source_not_found' : 'record_not_found',
          message:
            id === undefined
              ? 'Check the url of the source.'
              : 'The id is the external_id in the source. List the records of the source to find it.',
        },
      ],
    },
  )
