import { lexicographicSortSchema, printSchema } from 'graphql'
import { expect, test } from 'vitest'
import { schema } from '../../src/graphql/schema.ts'
import { printedOperations } from '../support/cli-operations.ts'
import { printedAnswers } from '../support/print-answers.ts'

const HOW = 'The printed contract differs. If the change is meant: npm run print'
const printed = (name: string) => `../../schema/${name}`

test('schema/schema.graphql equals the GraphQL schema', async () => {
  const text = `${printSchema(lexicographicSortSchema(schema))}\n`
  await expect(text, HOW).toMatchFileSnapshot(printed('schema.graphql'))
})

test('schema/openapi.json equals the OpenAPI description', async () => {
  const { openapi } = await import('../../src/rest/openapi/document.ts')
  await expect(`${JSON.stringify(await openapi(), null, 2)}\n`, HOW).toMatchFileSnapshot(
    printed('openapi.json'),
  )
})

test('schema/openapi.d.ts equals the types of what the OpenAPI description says', async () => {
  const { openapi } = await import('../../src/rest/openapi/document.ts')
  await expect(printedAnswers(await openapi()), HOW).toMatchFileSnapshot(printed('openapi.d.ts'))
})

test('schema/cli.json equals what commands know of the OpenAPI description', async () => {
  const { openapi } = await import('../../src/rest/openapi/document.ts')
  await expect(printedOperations(await openapi()), HOW).toMatchFileSnapshot(printed('cli.json'))
})

test('schema/tools.json equals the generic MCP tools', async () => {
  const { ACCOUNT, GENERIC, NAMED_ONLY } = await import('../../src/mcp/plinth-provider.ts')
  const tools = {
    '/mcp/{base_id}': GENERIC.map((tool) => tool.define(false)),
    '/mcp/{base_id}?tools=search,fetch': NAMED_ONLY.map((tool) => tool.define(false)),
    '/mcp': [...ACCOUNT, ...GENERIC].map((tool) => tool.define(true)),
  }
  await expect(`${JSON.stringify(tools, null, 2)}\n`, HOW).toMatchFileSnapshot(printed('tools.json'))
})

test('schema/config.schema.json equals the JSON Schema of config files', async () => {
  const { configSchema } = await import('../../src/engine/environments/config-schema.ts')
  await expect(`${JSON.stringify(configSchema(), null, 2)}\n`, HOW).toMatchFileSnapshot(
    printed('config.schema.json'),
  )
})
