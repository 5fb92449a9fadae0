/** One attempt of a delivery: sends its request or runs its action, and says how that ended. */

import type { Egress, Sent } from '../../../foundation/egress/dispatcher.ts'
import { DomainError } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import type { Log } from '../../../foundation/log.ts'
import { storableText } from '../../../foundation/text-encoding.ts'
import { openSecret } from '../../configuration/lifecycle/secrets.ts'
import { TRIGGER } from '../../configuration/triggers/index.ts'
import type { Secrets } from '../../configuration/vault-secrets/index.ts'
import type { Db } from '../../storage/database/client.ts'
import { maskSecrets } from '../../storage/vault/mask.ts'
import type { Vault } from '../../storage/vault/vault.ts'
import type { Due, Sender } from './due-deliveries.ts'
import type { Attempt } from './outcomes.ts'
import type { DeliveryRunner } from './run-delivery.ts'
import { signatureHeaders } from './signature.ts'

export type Services = {
  readonly db: Db
  readonly vault: Vault
  readonly egress: Egress
  readonly scheduleMs: readonly number[]
  readonly log: Log
  readonly run: DeliveryRunner
}

/** A delivery with what is sent. */
export type Ready = {
  readonly delivery: Due
  readonly sender: Sender
  readonly body: string
  readonly secrets: Secrets
}

export const headersOf = (sender: Sender | undefined): string[] => Object.values(sender?.headers ?? {})

/** When an attempt began, and the waits between attempts. */
type Timing = { readonly at: Date; readonly scheduleMs: readonly number[] }

/** Makes one attempt; undefined if the end of the process cut it off. */
export async function attempt(
  services: Services,
  ready: Ready,
  cut: AbortSignal,
): Promise<Attempt | undefined> {
  const { base_id: base, trigger_id: trigger, url, action } = ready.sender
  const timing = { at: new Date(), scheduleMs: services.scheduleMs }
  try {
    if (action !== null) return await attemptRun(services, ready, timing, action, cut)
    return url === null ? undefined : await attemptRequest(services, ready, timing, url, cut)
  } catch (err) {
    // An error of our own must end neither the process nor the other deliveries.
    services.log.warn(
      { err, base, trigger, delivery: ready.delivery.id },
      'a delivery could not be attempted',
    )
    return failed(ready, timing, INTERNAL)
  }
}

async function attemptRun(
  { run }: Services,
  ready: Ready,
  timing: Timing,
  action: string,
  cut: AbortSignal,
): Promise<Attempt | undefined> {
  const outcome = await run(ready.delivery, action, ready.body, cut)
  if (!outcome || outcome.isEnded) return undefined
  const { error } = outcome
  const ended = failed(ready, timing, error)
  return error === null ? { ...ended, isSuccess: true, isStored: true, waitMs: null } : ended
}

async function attemptRequest(
  { vault, egress }: Services,
  ready: Ready,
  timing: Timing,
  url: string,
  cut: AbortSignal,
): Promise<Attempt | undefined> {
  const { delivery, sender, body, secrets: filling } = ready
  const secrets = secretsOf(vault, sender)
  if (secrets.length === 0) return failed(ready, timing, NO_SECRET)
  const own = ownHeaders(sender, filling)
  if ('fault' in own) return failed(ready, timing, own.fault)
  const headers = {
    ...own.headers,
    'content-type': 'application/json',
    'user-agent': 'Plinth',
    ...signatureHeaders(delivery.id, body, secrets, timing.at),
  }
  const sent = await egress.send({ method: 'POST', url, headers, body }, cut)
  if (cut.aborted && sent.status === null) return undefined
  const known = [
    ...secrets.flatMap((secret) => [secret, secret.replace('whsec_', '')]),
    ...filling.valuesIn(headersOf(sender)),
  ]
  return attemptOf(ready, timing, sent, known)
}

/** The headers of the trigger with their secrets; or why they cannot be sent. */
function ownHeaders(
  { headers }: Sender,
  secrets: Secrets,
): { headers: Record<string, string> } | { fault: string } {
  try {
    return { headers: secrets.fillHeaders(headers) }
  } catch (thrown) {
    if (thrown instanceof DomainError) return { fault: thrown.details[0]?.message ?? thrown.message }
    throw thrown
  }
}

const INTERNAL = 'Internal error. The log of the server has the details under the id of the delivery.'
const NO_SECRET = 'The secret of the trigger cannot be opened with the master key of this server.'

/** The secrets that sign, the newest first. */
function secretsOf(vault: Vault, { base_id, trigger_id, secret, former_secret }: Sender): string[] {
  const owner = { kind: TRIGGER, baseId: base_id, id: trigger_id }
  const current = openSecret({ vault }, owner, 'secret', secret)
  if (current === undefined) return []
  const former =
    former_secret === null ? undefined : openSecret({ vault }, owner, 'formerSecret', former_secret)
  return former === undefined ? [current] : [current, former]
}

/** The attempt that an answer ended. The kept answer has none of the `known` secrets. */
async function attemptOf(
  ready: Ready,
  timing: Timing,
  sent: Sent,
  known: readonly string[],
): Promise<Attempt> {
  const { status, error } = sent
  const isSuccess = status !== null && status >= 200 && status < 300
  const isGone = status === 410
  return {
    ...failed(ready, timing, isSuccess ? null : (error?.message ?? `The receiver answered ${status}.`)),
    isSuccess,
    status,
    body: await keptAnswer(sent, known),
    durationMs: sent.durationMs,
    ...((isSuccess || isGone) && { waitMs: null }),
    isGone,
  }
}

function failed(
  { delivery, sender, body }: Ready,
  { at, scheduleMs }: Timing,
  error: string | null,
): Attempt {
  const attempts = delivery.attempts + 1
  const isLast = attempts >= sender.max_attempts || delivery.change_seq === null
  return {
    ...{ delivery, at, isSuccess: false, status: null, body: '', durationMs: 0, error, isGone: false },
    sent: delivery.change_seq === null ? null : body,
    waitMs: isLast ? null : waitAfter(scheduleMs, attempts),
  }
}

/** The result for a delivery whose change was purged before its first attempt. */
export const purged = (delivery: Due): Attempt => ({
  ...{ delivery, at: new Date(), isSuccess: false, status: null, body: '', durationMs: 0, isGone: false },
  error: 'The history no longer has the change.',
  sent: null,
  waitMs: null,
})

/** The start of an answer as it is kept, without known secrets. */
async function keptAnswer(
  { body, isCut }: Pick<Sent, 'body' | 'isCut'>,
  secrets: readonly string[],
): Promise<string> {
  const masked = await maskSecrets(body, secrets, isCut)
  const bytes = Buffer.from(storableText(masked))
  if (bytes.length <= LIMITS.deliveryAnswerBytes) return bytes.toString('utf8')
  // A character that is cut becomes one that says so.
  return bytes.subarray(0, LIMITS.deliveryAnswerBytes).toString('utf8')
}

/** Milliseconds before a delivery is tried again after its `attempts`-th failure: ± 20 %, so that receivers are not met all at once. */
function waitAfter(scheduleMs: readonly number[], attempts: number): number {
  const wait = scheduleMs[Math.min(attempts, scheduleMs.length) - 1] ?? 0
  return wait * (0.8 + 0.4 * Math.random())
}
