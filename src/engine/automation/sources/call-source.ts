/** Sends one request to a source, and reads the response as JSON. `scope.egress` refuses private addresses. */

import type { Sent } from '../../../foundation/egress/dispatcher.ts'
import { busy, DomainError, invalid } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { storableText } from '../../../foundation/text-encoding.ts'
import { parseLargeJson } from '../../../json/parse.ts'
import { resolveSecrets } from '../../configuration/vault-secrets/index.ts'
import type { Scope } from '../../core/scope.ts'
import { workSlots } from '../../core/work-slots.ts'
import { fillUrl, hasDotSegment } from '../../schema/templates/urls.ts'
import { maskSecrets } from '../../storage/vault/mask.ts'
import { absent, refused, tooMuch, unreachable, unreadable } from './failures.ts'
import type { SourceUse } from './find-source.ts'

type Values = {
  readonly external_id?: string
  readonly limit?: number
  readonly offset?: number
  readonly page?: number
}

/** An answer, and the secrets that must not show in what is made of it. `json` is undefined for an empty one. */
export type SourceAnswer = { readonly json: unknown; readonly secrets: readonly string[] }

const withSlot = workSlots({
  ...{ inAll: LIMITS.sourceCalls, ofToken: LIMITS.sourceCallsOfToken, waitMs: LIMITS.sourceWaitMs },
  tooMany: () =>
    busy('Too many calls of external sources run at the same time.', 'Call fewer sources at a time.'),
})

/**
 * Calls a source.
 * @throws NOT_FOUND for its 404; INTERNAL_ERROR for its other failures; VALIDATION_ERROR for an id that a url cannot
 * have, a secret that is absent, or answers that are too large together; RATE_LIMITED
 */
export async function callSource(
  scope: Scope,
  use: SourceUse,
  values: Values,
  body?: object,
): Promise<SourceAnswer> {
  const { type, source, request } = use
  const url = urlOf(use, values)
  const auth = source.auth ? { [source.auth.header.toLowerCase()]: source.auth.value_template } : {}
  const secrets = await resolveSecrets(scope, type.baseId, Object.values(auth))
  const known = secrets.valuesIn(Object.values(auth))
  const headers = withName(use, () => secrets.fillHeaders(auth))
  const sent = await withSlot(scope, () =>
    scope.egress.send(
      {
        method: request.method ?? DEFAULT_METHODS[use.operation],
        url,
        headers: {
          ...{ accept: 'application/json', 'user-agent': 'Plinth' },
          ...(body && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body && { body: JSON.stringify(body) }),
        ...{ answerBytes: LIMITS.sourceAnswerBytes, timeoutMs: LIMITS.sourceTimeoutMs },
      },
      scope.closed?.(),
    ),
  )
  // What a write has sent cannot be undone, so its answer is not refused.
  if (use.operation === 'create' || use.operation === 'update') scope.answer.spend(sent.body.length)
  else if (!scope.answer.hold(sent.body.length)) throw tooMuch(use)
  return { json: await read(use, sent, known, values), secrets: known }
}

const DEFAULT_METHODS = { get: 'GET', list: 'GET', create: 'POST', update: 'PUT' } as const

function urlOf(use: SourceUse, values: Values): string {
  const { source, request } = use
  const url = fillUrl(request.url, values)
  if (!hasDotSegment(url)) return url
  throw invalid({
    path: use.operation === 'get' ? '/id' : '/external_id',
    code: 'dot_segment',
    message: `The source "${source.name}" cannot be asked for this id: the path of its url would have a segment "." or "..".`,
  })
}

/** Says which source has a fault. */
function withName<T>({ source }: SourceUse, work: () => T): T {
  try {
    return work()
  } catch (thrown) {
    const [fault] = thrown instanceof DomainError ? thrown.details : []
    if (!fault) throw thrown
    throw invalid({
      ...fault,
      path: '',
      message: `The source "${source.name}" cannot be called. ${fault.message}`,
    })
  }
}

async function read(
  use: SourceUse,
  sent: Sent,
  secrets: readonly string[],
  values: Values,
): Promise<unknown> {
  const { status, body, isCut, error } = sent
  if (status === null) throw unreachable(use, error?.message ?? 'There was no answer.')
  if (status === 404) throw absent(use, values.external_id)
  if (status < 200 || status > 299) throw refused(use, status, await excerptOf(body, secrets, isCut))
  if (isCut)
    throw unreadable(
      use,
      `The answer has more than ${LIMITS.sourceAnswerBytes} bytes. Ask for fewer records at a time.`,
      {
        expected: LIMITS.sourceAnswerBytes,
      },
    )
  if (body === '') return undefined
  try {
    return await parseLargeJson(Buffer.from(body))
  } catch (thrown) {
    if (!(thrown instanceof DomainError)) throw thrown
    throw unreadable(use, `The answer is not JSON that can be stored: ${thrown.message}`, {
      received: await excerptOf(body, secrets, false),
    })
  }
}

/** The start of an answer, without secrets and what cannot be shown. */
async function excerptOf(body: string, secrets: readonly string[], isCut: boolean): Promise<string> {
  const start = body.slice(0, LIMITS.deliveryAnswerBytes)
  const masked = await maskSecrets(start, secrets, isCut || start.length < body.length)
  return storableText(masked.slice(0, LIMITS.sourceAnswerShownChars))
}
