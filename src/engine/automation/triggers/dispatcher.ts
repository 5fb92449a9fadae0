/** Takes due deliveries from the queue as the limits allow, attempts them, and stores the results. */
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { resolveSecrets } from '../../configuration/vault-secrets/index.ts'
import { ResponseBudget } from '../../storage/database/capped-query.ts'
import { attempt, headersOf, purged, type Ready, type Services } from './attempt.ts'
import { bodiesOf, type Due, dueDeliveries, keptBodies, sendersOf, testBody } from './due-deliveries.ts'
import { type Attempt, storeAttempts } from './outcomes.ts'
import type { ReceiverLimits } from './receiver-limits.ts'
import { hold, inTurn, release, releaseLeft } from './record-order.ts'

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
  /** Attempts without an outcome of this process. */
  const given: Due[] = []
  /** One for each record: what the last look found before its turn. */
  let early: readonly Due[] = []
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
      else {
        limits.end(base, trigger, id)
        given.push(next.delivery)
      }
    })
    const done = sent.finally(() => sending.delete(done))
    sending.add(done)
  }
  const drop = (delivery: Due): void => {
    limits.start(delivery.base_id, delivery.trigger_id, delivery.id, 0)
    ended.push(purged(delivery))
  }
  const sendDue = async (): Promise<boolean> => {
    const capacities = limits.capacities()
    if (capacities.length === 0) return false
    // From before the read: what ends meanwhile may still be due in what is read.
    const isInFlight = limits.inFlight()
    const found = await dueDeliveries(db, capacities)
    const turns = inTurn(found)
    early = turns.early
    const due = turns.ready.filter((each) => !isInFlight(each.base_id, each.trigger_id, each.id))
    if (due.length === 0) return false
    for await (const next of prepare(services, due)) {
      if (until.aborted) return false
      if (!('sender' in next)) drop(next)
      else if (limits.hasCapacity(next.sender.base_id, next.sender.trigger_id)) start(next)
    }
    return true
  }
  const keepTurns = async (): Promise<void> => {
    const [left, waiting] = [given.splice(0), early]
    early = []
    try {
      if (left.length > 0) await release(db, left)
      if (waiting.length > 0) await hold(db, waiting)
    } catch (thrown) {
      given.push(...left)
      throw thrown
    }
    if (waiting.length > 0) wakeUp()
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
    let isReleased = false
    while (!isReleased && !until.aborted)
      isReleased = await logged(() => releaseLeft(db).then(() => true), false)
    const storing = repeat(until, async () => {
      await logged(store, undefined)
      await logged(keepTurns, undefined)
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

/** Reads what is sent with each delivery, in their order. Yields the delivery alone if its change was purged. */
async function* prepare(services: Services, due: readonly Due[]): AsyncGenerator<Ready | Due> {
  const { db } = services
  const senders = new Map(
    (await sendersOf(db, distinct(due))).map((sender) => [`${sender.base_id}/${sender.trigger_id}`, sender]),
  )
  for (const [base, own] of Map.groupBy(due, ({ base_id }) => base_id)) {
    const headers = own.flatMap(({ trigger_id }) => headersOf(senders.get(`${base}/${trigger_id}`)))
    const secrets = await resolveSecrets(services, base, [...new Set(headers)])
    const cap = new ResponseBudget(LIMITS.dispatchedBytes, Number.POSITIVE_INFINITY).page()
    const fresh = own.filter(({ has_body, change_seq }) => !has_body && change_seq !== null)
    const changes = await bodiesOf(db, base, fresh, cap)
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

const distinct = (due: readonly Due[]): Due[] => [
  ...new Map(due.map((each) => [`${each.base_id}/${each.trigger_id}`, each])).values(),
]
