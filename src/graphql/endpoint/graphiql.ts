import { renderGraphiQL } from '@graphql-yoga/render-graphiql'

const WELCOME = `# Put a token into the headers below,
# re-fetch the schema (the arrows on the left), then run the query.
{
  bases {
    data { id name counts }
    hasMore
  }
}
`

/** Renders the GraphiQL page, with all scripts and fonts inline. `renderInWorker` runs it in a worker. */
export const make = (): Buffer => Buffer.from(page())

const page = (): string =>
  renderGraphiQL({
    title: 'Plinth GraphQL',
    endpoint: '/graphql',
    defaultQuery: WELCOME,
    headers: JSON.stringify({ authorization: 'Bearer plt_your_token' }, null, 2),
    defaultEditorToolsVisibility: 'headers',
    // Do not keep tokens in browser storage.
    shouldPersistHeaders: false,
  } as Parameters<typeof renderGraphiQL>[0])
