/** Record types with an action each, for tests of actions. */
import { succeed } from './answers.ts'
import type { Body, Call } from './server.ts'
import type { World } from './world.ts'

const TITLED = {
  json_schema: { type: 'object', properties: { title: { type: 'string' }, n: { type: 'integer' } } },
}

/** Makes a record type, and an action whose steps write it. `$type` in the steps stands for the type. */
export function actionsOf(world: World) {
  const call: Call = (...args) => world.call(...args)
  let serial = 0
  return async (steps: object[], more: object = {}) => {
    const type = await world.newType(TITLED)
    const id = `action${++serial}`
    const one = `/v1/crm/actions/${id}`
    const named = (value: object) => JSON.parse(JSON.stringify(value).replaceAll('$type', type))
    const put = (sent: object[] = steps, with_: object = more) =>
      call('PUT', one, named({ steps: sent, ...with_ }))
    return {
      ...{ id, one, type, put },
      made: await put(),
      run: (input?: object, headers?: Record<string, string>, as: Call = call) =>
        as('POST', `${one}/run`, input === undefined ? {} : { input }, headers),
      dryRun: (input: object) => call('POST', `${one}/run?dry_run=true`, { input }),
      runs: async (query = ''): Promise<Body[]> => succeed(await call('GET', `${one}/runs${query}`)).data,
      records: async (): Promise<Body[]> =>
        succeed(await call('GET', `/v1/crm/records/${type}?sort=id&limit=1000`)).data,
    }
  }
}

/** A step that creates a record of the type. */
export const create = (name: string, data: object, more: object = {}) => ({
  ...{ name, type: 'create_record', record_type: '$type', data },
  ...more,
})
