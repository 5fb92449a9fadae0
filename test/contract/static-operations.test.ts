/** The operations that the surfaces run: each is valid against the schema, which no start of a server checks. */
import { globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Kind, OperationTypeNode, validate } from 'graphql'
import { expect, test } from 'vitest'
import { staticOperations } from '../../src/graphql/execute.ts'
import { schema } from '../../src/graphql/schema.ts'

const modules = globSync('src/**/*.ts').filter((file) => /\/execute\.ts'/.test(readFileSync(file, 'utf8')))
await Promise.all(modules.map((file) => import(resolve(file))))

const nameOf = (document: (typeof staticOperations)[number]) =>
  document.definitions.map((each) => ('name' in each ? each.name?.value : undefined)).join(', ')

test('every static operation is valid against the schema', { tags: 'full' }, () => {
  const faults = staticOperations.flatMap((document) =>
    validate(schema, document).map(({ message }) => `${nameOf(document)}: ${message}`),
  )
  expect(faults).toEqual([])
  expect(staticOperations.length).toBeGreaterThan(modules.length * 4)
})

test('an operation of a mutation has one field, because it runs as a query', () => {
  const several = staticOperations.filter((document) =>
    document.definitions.some(
      (each) =>
        each.kind === Kind.OPERATION_DEFINITION &&
        each.operation === OperationTypeNode.MUTATION &&
        each.selectionSet.selections.length > 1,
    ),
  )
  expect(several.map(nameOf)).toEqual([])
})
