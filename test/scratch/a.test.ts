import { test } from 'vitest'
import { openServer } from '../support/server.ts'
import { rpc } from '../support/mcp.ts'
test('x', async () => {
  const s = await openServer()
  await s.call('PUT', '/v1/bases/crm', {})
  await s.call('PUT', '/v1/crm/record-types/task', {})
  const r = await s.call('POST', '/graphql', { query: '{ bases { data { id } } }' })
  console.log(r.status, r.text, s.log.filter(l => /err/.test(l)).slice(-3))
  const f = await s.call('GET', '/v1/crm/records/task?filter=' + encodeURIComponent(JSON.stringify({ field: 'data.title', op: 'in', value: ['once', 'twice'] })))
  console.log(f.status, f.text, s.log.filter(l => /err/.test(l)).slice(-3))
  console.log((await rpc(s, '/mcp/nope', 'tools/list')).text)
  const tok = (await s.call('POST', '/v1/tokens', { name: 'x', grants: [{ base: 'crm', record_type: '*', environment: '*', permission: 'read' }] })).body.token
  console.log((await rpc(s, '/mcp/nope', 'tools/list', {}, { token: tok })).text)
  console.log((await rpc(s, '/mcp/nope', 'tools/call', { name: 'list_types' }, { token: tok })).text)
  console.log((await rpc(s, '/mcp/nope', 'tools/call', { name: 'xx' }, { token: tok })).text)
  console.log((await rpc(s, '/mcp/nope', 'tools/call', { name: 'create_xx' })).text)
  await s.close()
})
