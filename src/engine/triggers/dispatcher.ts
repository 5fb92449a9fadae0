/** Sends due deliveries, or runs their actions, and stores the results. */
import type { Egress, Sent } from '../../foundation/egress/dispatcher.ts'
import { DomainError } from '../../foundation/errors.ts'
import { nextTurn, turnIsOver } from '../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../foundation/limits.ts'
import type { Log } from '../../foundation/log.ts'
import { openSecret } from '../configuration/lifecycle/secrets.ts'
import { TRIGGER } from '../configuration/triggers/index.ts'
import { resolveSecrets, type Secrets } from '../configuration/vault-secrets/index.ts'
import { ResponseBudget } from '../database/capped-query.ts'
import type { Db } from '../database/client.ts'
import type { Vault } from '../vault/vault.ts'
import {
  bodiesOf,
  type Due,
  dueDeliveries,
  keptBodies,
  type Sender,
  sendersOf,
  testBody,
} from './due-deliveries.ts'
import { type Attempt, keptAnswer, nextAttempt, storeAttempts } from './outcomes.ts'
import type { ReceiverLimits } from './receiver-limits.ts'
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
type Ready = {
  readonly delivery: Due
  readonly sender: Sender
  readonly body: string
  readonly secrets: Secrets
}

/** Bytes of bodies that one look at the queue reads. */
const READ_BYTES = 4 * 1024 * 1024

export type Dispatcher = {
  /** Looks for due deliveries now. */
  wake(): void
  /** Ends when all attempts have ended and are stored. */
  readonly ended: Promise<void>
}

/** Sends the due deliveries that the limits allow until `until` aborts, and ends those in flight when `cut` aborts. */
export function dispatch(
  services: Services,
  limits: ReceiverLimits,
  until: AbortSignal,
  cut: AbortSignal,
): Dispatcher {
  const { db, log } = services
  const ended: Attempt[] = []
  const sending = new Set<Promise<void>>()
  let wake = () => {}
  let isWoken = false

  const start = (next: Ready): void => {
    const { base_id: base, trigger_id: trigger, id } = next.delivery
    limits.start(base, trigger, id, next.body.length)
    const sent = attempt(services, next, cut).then((outcome) => {
      // What was cut off by the end of the process did not happen: it is tried again by the next one.
      if (outcome) ended.push(outcome)
      if (outcome) limits.answered(base, trigger, outcome.isSuccess)
      else limits.end(base, trigger, id)
    })
    const done = sent.finally(() => sending.delete(done))
    sending.add(done)
  }
  const drop = (delivery: Due): void => {
    limits.start(delivery.base_id, delivery.trigger_id, delivery.id, 0)
    ended.push(purged(delivery))
  }
  const sendDue = async (): Promise<boolean> => {
    const rooms = limits.rooms()
    if (rooms.length === 0) return false
    // From before the read: what ends meanwhile may still be due in what is read.
    const isInFlight = limits.inFlight()
    const found = await dueDeliveries(db, rooms)
    const due = found.filter((each) => !isInFlight(each.base_id, each.trigger_id, each.id))
    if (due.length === 0) return false
    for await (const next of prepare(services, due)) {
      if (until.aborted) return false
      if (!('sender' in next)) drop(next)
      else if (limits.hasRoom(next.sender.base_id, next.sender.trigger_id)) start(next)
    }
    return true
  }
  const store = async (): Promise<void> => {
    const attempts = ended.splice(0, LIMITS.pageMax)
    if (attempts.length === 0) return
    try {
      for (const { base, id, reason } of await storeAttempts(db, attempts))
        log.warn({ base, trigger: id }, `a trigger was disabled: ${reason}`)
      for (const { delivery } of attempts) limits.end(delivery.base_id, delivery.trigger_id, delivery.id)
      wakeUp()
    } catch (thrown) {
      ended.unshift(...attempts)
      throw thrown
    }
  }
  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, isWoken ? 0 : ms)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  const logged = async <T>(work: () => Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await work()
    } catch (err) {
      if (!until.aborted) log.warn({ err }, 'deliveries of triggers wait: the database could not be used')
      await pause(LIMITS.leaderRetryMs)
      return otherwise
    }
  }
  const run = async (): Promise<void> => {
    const storing = repeat(until, async () => {
      await logged(store, undefined)
      await new Promise((resolve) => setTimeout(resolve, LIMITS.deliveryStoreMs))
    })
    await repeat(until, async () => {
      isWoken = false
      if (!(await logged(sendDue, false)))
        await pause(limits.isEmpty() ? LIMITS.leaderRetryMs : LIMITS.deliveryPollMs)
    })
    await Promise.all(sending)
    await storing
    await store().catch((err) =>
      log.warn({ err }, 'outcomes of deliveries were not stored; these are sent again'),
    )
  }
  const wakeUp = () => {
    isWoken = true
    wake()
  }
  until.addEventListener('abort', wakeUp, { once: true })
  return { wake: wakeUp, ended: run() }
}

async function repeat(until: AbortSignal, step: () => Promise<void>): Promise<void> {
  while (!until.aborted) await step()
}

/** Reads what is sent with each delivery, in their order. A delivery whose change was purged is sent without it. */
async function* prepare(services: Services, due: readonly Due[]): AsyncGenerator<Ready | Due> {
  const { db } = services
  const senders = new Map(
    (await sendersOf(db, distinct(due))).map((sender) => [`${sender.base_id}/${sender.trigger_id}`, sender]),
  )
  for (const [base, own] of Map.groupBy(due, ({ base_id }) => base_id)) {
    const headers = own.flatMap(({ trigger_id }) => headersOf(senders.get(`${base}/${trigger_id}`)))
    const secrets = await resolveSecrets(services, base, [...new Set(headers)])
    const cap = new ResponseBudget(READ_BYTES, Number.POSITIVE_INFINITY).page()
    const fresh = own.filter(({ has_body, change_seq }) => !has_body && change_seq !== null)
    const seqs = [...new Set(fresh.map(({ change_seq }) => Number(change_seq)))]
    const changes = await bodiesOf(db, base, seqs, cap)
    const kept = await keptBodies(
      db,
      base,
      own.filter(({ has_body }) => has_body),
      cap,
    )
    for (const delivery of own) {
      if (turnIsOver()) await nextTurn()
      const sender = senders.get(`${base}/${delivery.trigger_id}`)
      const body = delivery.has_body
        ? kept.bodies.get(delivery.id)
        : delivery.change_seq === null
          ? testBody(delivery)
          : changes.bodies.get(delivery.change_seq)
      const isUnread = delivery.has_body ? kept.isCut : changes.isCut
      if (sender && body !== undefined) yield { delivery, sender, body, secrets }
      else if (sender && !isUnread) yield delivery
    }
  }
}

const headersOf = (sender: Sender | undefined): string[] => Object.values(sender?.headers ?? {})

const distinct = (due: readonly Due[]): Due[] => [
  ...new Map(due.map((each) => [`${each.base_id}/${each.trigger_id}`, each])).values(),
]

/** When an attempt began, and the waits between attempts. */
type Timing = { readonly at: Date; readonly scheduleMs: readonly number[] }

/** Makes one attempt; undefined if the end of the process cut it off. */
async function attempt(services: Services, ready: Ready, cut: AbortSignal): Promise<Attempt | undefined> {
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
  return error === null ? { ...ended, isSuccess: true, isStored: true, nextAt: null } : ended
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
function attemptOf(ready: Ready, timing: Timing, sent: Sent, known: readonly string[]): Attempt {
  const { status, error } = sent
  const isSuccess = status !== null && status >= 200 && status < 300
  const isGone = status === 410
  return {
    ...failed(ready, timing, isSuccess ? null : (error?.message ?? `The receiver answered ${status}.`)),
    isSuccess,
    status,
    body: keptAnswer(sent, known),
    durationMs: sent.durationMs,
    ...((isSuccess || isGone) && { nextAt: null }),
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
    nextAt: isLast ? null : nextAttempt(scheduleMs, attempts, new Date()),
  }
}

const purged = (delivery: Due): Attempt => ({
  ...{ delivery, at: new Date(), isSuccess: false, status: null, body: '', durationMs: 0, isGone: false },
  error: 'The history no longer has the change.',
  sent: null,
  nextAt: null,
})
