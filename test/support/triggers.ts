/** Triggers on record types of their own, whose receivers are paths of their own. */
import { expect } from 'vitest'
import { succeed } from './answers.ts'
import type { Received, Receiver } from './receiver.ts'
import type { Body } from './server.ts'
import { eventually } from './until.ts'
import type { World } from './world.ts'

export function triggersOf(world: World, receiver: Receiver) {
  let serial = 0
  const call: World['call'] = (...args) => world.call(...args)
  const put = async (type: string, record: string, data: object) => {
    const answer = await call('PUT', `/v1/crm/records/${type}/${record}`, { data })
    expect(answer.status, answer.text).toBeLessThan(300)
  }
  const arrived = (path: string, count: number): Promise<Received[]> =>
    eventually(async () => {
      const found = receiver.at(path)
      return found.length >= count ? found : undefined
    })

  /** Makes a trigger on a record type of its own, or on `type`. */
  async function newTrigger(more: object = {}, type?: string) {
    const recordType = type ?? (await world.newType())
    const id = `trigger${++serial}`
    const body = { record_types: [recordType], url: `${receiver.url}/${id}`, ...more }
    const made = succeed(await call('PUT', `/v1/crm/triggers/${id}`, body), 201)
    const one = `/v1/crm/triggers/${id}`
    return {
      ...{ id, one, recordType, made, secret: String(made.secret), path: `/${id}` },
      put: (record: string, data: object) => put(recordType, record, data),
      arrived: (count: number) => arrived(`/${id}`, count),
      deliveries: async (): Promise<Body[]> => succeed(await call('GET', `${one}/deliveries`)).data,
      /** Waits until a delivery is as expected. */
      delivery: (matches: (delivery: Body) => boolean): Promise<Body> =>
        eventually(async () => succeed(await call('GET', `${one}/deliveries`)).data.find(matches)),
      trigger: async (): Promise<Body> => succeed(await call('GET', one)),
    }
  }
  return { newTrigger, put, arrived }
}
