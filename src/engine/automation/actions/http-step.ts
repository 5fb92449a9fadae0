/** A step that sends a request. `scope.egress` refuses private addresses. A dry run sends nothing. */
import { STEP_METHODS, type Step } from '../../../contract/action-shapes.ts'
import { HEADER_VALUE } from '../../../contract/outgoing-headers.ts'
import { urlFault } from '../../../foundation/egress/url-fault.ts'
import { type DomainError, invalid, oneFault, upstreamFailure } from '../../../foundation/errors.ts'
import { isObject } from '../../../foundation/is-object.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { storableText } from '../../../foundation/text-encoding.ts'
import { checkJson, parseJson, pointer } from '../../../json/parse.ts'
import { hasTemplate, parseTemplate } from '../../schema/templates/parse.ts'
import { NeedsUnknown, render, renderParts, TextBudget, type Values } from '../../schema/templates/render.ts'
import { hasDotSegment } from '../../schema/templates/urls.ts'
import { maskSecrets } from '../../storage/vault/mask.ts'
import type { RunContext, StepOutcome } from './run-context.ts'

type Method = (typeof STEP_METHODS)[number]
type Request = { method: Method; url: string; headers: Record<string, string>; body?: string }
type Answer = { readonly status: number; readonly body: unknown; readonly truncated?: true }

/** Nothing that a change-set does may be felt outside before it is promoted. */
const sendsOutside = (id: string): DomainError => {
  const message = `This step sends a request, and nothing leaves the change-set "${id}".`
  const advice = 'Run the action in production, or one without this step here.'
  return oneFault('CONFLICT', message, { path: '', code: 'sends_outside', message: advice, received: id })
}

export async function runHttpStep(context: RunContext, step: Step): Promise<StepOutcome> {
  const { scope, run, values, deadline } = context
  if (scope.changeSet !== undefined) throw sendsOutside(scope.changeSet)
  const request = requestOf(step, values)
  const target = urlFault(request.url, scope.egress.privateHosts)
  if (target) throw invalid({ path: '/url', ...target })
  if (scope.isRehearsal) throw new NeedsUnknown()
  context.requireOwnUrl(step, request.url, '')
  const fingerprint = JSON.stringify(request)
  const before = run.sent.get(step.name)
  if (before && before.request !== fingerprint) throw raced()
  const answer = (before?.answer as Answer | undefined) ?? (await send(context, request, deadline))
  run.sent.set(step.name, { request: fingerprint, answer })
  const { status, body } = answer
  const logged = { http_status: status, body: excerptOf(body) }
  if (status < 200 || status > 299) throw refused(status, excerptOf(body))
  return { result: answer, logged }
}

function requestOf({ url, headers, body, method }: Step, values: Values): Request {
  const budget = new TextBudget(LIMITS.stepChars)
  const sent: Record<string, string> = {}
  for (const [name, value] of Object.entries(isObject(headers) ? headers : {})) {
    const text = render(value, values, budget, `/headers${pointer(name)}`)
    if (text === undefined || text === null) continue
    sent[name.toLowerCase()] = headerOf(text, `/headers${pointer(name)}`)
  }
  const content = render(body, values, budget, '/body')
  if (content !== undefined) checkJson(content, '/body')
  const isText = typeof content === 'string'
  const as = content === undefined ? (method ?? 'GET') : (method ?? 'POST')
  return {
    method: methodOf(render(as, values, budget)),
    url: urlOf(String(url), values, budget),
    headers: {
      'user-agent': 'Plinth',
      ...(content !== undefined && {
        'content-type': isText ? 'text/plain; charset=utf-8' : 'application/json',
      }),
      ...sent,
    },
    ...(content !== undefined && { body: isText ? content : JSON.stringify(content) }),
  }
}

function methodOf(method: unknown): Method {
  const known = STEP_METHODS.find((each) => each === method)
  if (known) return known
  throw invalid({
    path: '/method',
    code: 'enum',
    message: `method must be one of ${STEP_METHODS.join(', ')}.`,
    allowed: STEP_METHODS,
  })
}

/** A header value, with the values of its templates. */
function headerOf(value: unknown, path: string): string {
  const text = typeof value === 'object' ? '' : String(value)
  if (typeof value !== 'object' && HEADER_VALUE.test(text) && text.length <= LIMITS.triggerHeaderChars)
    return text
  throw invalid({
    path,
    code: 'invalid_header',
    message: `A header can have at most ${LIMITS.triggerHeaderChars} visible ASCII characters and spaces. Send such a value for its template.`,
  })
}

/** The url. Values are percent-encoded, so that they stay within their part of the path or query. */
function urlOf(text: string, values: Values, budget: TextBudget): string {
  if (!hasTemplate(text)) return text
  const parts = parseTemplate(text, '/url')
  if (parts.length === 1) {
    const whole = render(text, values, budget, '/url')
    if (typeof whole === 'string') return whole
    throw invalid({
      path: '/url',
      code: 'type',
      message: 'The url must be a string. Send a string for its template.',
      expected: 'string',
    })
  }
  const url = renderParts(parts, values, budget, '/url', (value) => encodeURIComponent(value.toWellFormed()))
  if (hasDotSegment(url))
    throw invalid({
      path: '/url',
      code: 'dot_segment',
      message:
        'With the values of its templates, the path of the url has a segment "." or "..". Send another value.',
    })
  return url
}

async function send({ scope, secrets }: RunContext, request: Request, deadline: number): Promise<Answer> {
  const late = AbortSignal.timeout(Math.max(1, deadline - Date.now()))
  const signal = scope.withdrawn ? AbortSignal.any([late, scope.withdrawn()]) : late
  const sent = await scope.egress.send(request, signal)
  if (sent.status === null) throw unsent(sent.error?.message ?? 'There was no answer.')
  const text = await maskSecrets(sent.body, secrets, sent.isCut)
  return { status: sent.status, body: jsonOf(text), ...(sent.isCut && { truncated: true as const }) }
}

/** The body as JSON, or as text if it is none that can be stored. */
function jsonOf(text: string): unknown {
  if (text === '') return null
  try {
    return parseJson(text)
  } catch {
    return storableText(text)
  }
}

const excerptOf = (body: unknown): string =>
  (typeof body === 'string' ? body : JSON.stringify(body)).slice(0, LIMITS.deliveryAnswerBytes)

const unsent = (why: string) =>
  upstreamFailure(`The request of the step failed: ${why}`, [
    { path: '', code: 'request_failed', message: why },
  ])

const refused = (status: number, body: string) =>
  upstreamFailure(`The receiver of the step answered ${status}.`, [
    {
      path: '',
      code: 'answered',
      message: `The receiver answered ${status}.`,
      expected: '200 to 299',
      received: body,
    },
  ])

const raced = () =>
  oneFault(
    'CONFLICT',
    'Another writer changed what the run writes, after its request was sent. Send it again.',
    {
      path: '',
      code: 'raced',
      message: 'The request of the step was sent, and is not sent twice by one run.',
    },
  )
