/** What MCP serves beside tools: a URI of each kind of resource and a prompt, in a base that `fillForResources` has made. */
import { succeed } from './answers.ts'
import { fillForTools } from './tool-samples.ts'
import type { World } from './world.ts'

const PROMPT = {
  name: 'greet',
  arguments: [{ name: 'who', record_type: 'deal' }],
  template: 'Greet {{who}}.',
}

/** Follows resources in the era without sessions: a stream, whose first event names what it follows. */
export const LISTEN = 'subscriptions/listen'

/** Fills the base. Returns a URI of each kind of resource. */
export async function fillForResources(world: World, base: string): Promise<Record<string, string>> {
  await fillForTools(world, base)
  const put = async (path: string, body: object) =>
    succeed(await world.call('PUT', `/v1/${base}/${path}`, body), 201)
  await put('record-types/prompt', {})
  await put('records/prompt/greet', { data: PROMPT })
  await put('files/docs/a.md', { text: 'x' })
  await put('actions/all', { steps: [{ name: 'all', type: 'query', record_type: 'deal' }] })
  await put('endpoints/desk', {
    tools: [{ record_type: 'deal', operations: ['get', 'list', 'update'] }],
    resources: true,
  })
  const { run_id } = succeed(await world.call('POST', `/v1/${base}/actions/all/run`, {}))
  const at = `plinth://${base}`
  return {
    type: `${at}/types/deal`,
    record: `${at}/records/deal/d1`,
    records: `${at}/records/deal?filter=${encodeURIComponent('{"field":"data.amount","op":"gt","value":0}')}`,
    file: `${at}/files/docs/a.md`,
    files: `${at}/files/docs?prefix=a`,
    run: `${at}/actions/all/runs/${run_id}`,
    runs: `${at}/actions/all/runs?status=succeeded`,
  }
}

/** The requests about resources and prompts, with their params at an address. */
export function resourceRows(path: string, uris: Readonly<Record<string, string>>) {
  const greet = path === '/mcp' ? 'shop/greet' : 'greet'
  const template = { type: 'ref/resource', uri: 'plinth://{base}/records/{type}/{id}' }
  const known = { arguments: { base: 'shop', type: 'deal' } }
  const rows: [name: string, method: string, params: object][] = [
    ...['resources/list', 'resources/templates/list', 'prompts/list'].map(
      (method): [string, string, object] => [method, method, {}],
    ),
    ...Object.entries(uris).map(([kind, uri]): [string, string, object] => [kind, 'resources/read', { uri }]),
    ...Object.entries(uris)
      .filter(([kind]) => !kind.startsWith('run'))
      .flatMap(([kind, uri]): [string, string, object][] => [
        [`${kind} followed`, 'resources/subscribe', { uri }],
        [`${kind} heard`, LISTEN, { notifications: { resourceSubscriptions: [uri] } }],
      ]),
    ['skill', 'resources/read', { uri: 'skill://plinth/SKILL.md' }],
    ['prompt', 'prompts/get', { name: greet, arguments: { who: 'd1' } }],
    [
      'id completed',
      'completion/complete',
      { ref: template, argument: { name: 'id', value: 'd' }, context: known },
    ],
    [
      'argument completed',
      'completion/complete',
      { ref: { type: 'ref/prompt', name: greet }, argument: { name: 'who', value: 'd' } },
    ],
  ]
  return rows.map(([name, method, params]) => ({ path, name, method, params }))
}
export type ResourceRow = ReturnType<typeof resourceRows>[number]
