/** Answers introspection in a worker thread: over hundreds of types it takes seconds, and tens of megabytes. */
import { buildSchema, executeSync, parse } from 'graphql'

export type Introspection = {
  schema: string
  document: string
  operationName: string | null
  variables: Readonly<Record<string, unknown>>
}

/** The answer as JSON text, or why the operation has none, such as a variable without a value. */
export type IntrospectionAnswer = { readonly text: string } | { readonly fault: string }

/** Answers the operation. `runInWorker` runs it. */
export function make({ schema, document, operationName, variables }: Introspection): IntrospectionAnswer {
  const { data, errors } = executeSync({
    schema: buildSchema(schema, { assumeValidSDL: true, noLocation: true }),
    document: parse(document, { noLocation: true }),
    operationName,
    variableValues: variables,
  })
  return errors?.[0] ? { fault: errors[0].message } : { text: JSON.stringify(data) }
}
