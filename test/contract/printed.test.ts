import { expect, test } from 'vitest'
import { printedSchema } from '../../src/graphql/schema-print.ts'

const HOW = 'The printed contract differs. If the change is meant: npm run print'
const printed = (name: string) => `../../schema/${name}`

test('schema/schema.graphql is the GraphQL schema', async () => {
  await expect(printedSchema(), HOW).toMatchFileSnapshot(printed('schema.graphql'))
})

test('schema/openapi.json is the REST contract', async () => {
  const { openapi } = await import('../../src/rest/openapi.ts')
  await expect(`${JSON.stringify(openapi(), null, 2)}\n`, HOW).toMatchFileSnapshot(printed('openapi.json'))
})
