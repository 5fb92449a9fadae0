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

const BASE_WELCOME = `# Put a token into the headers below, and re-fetch the schema (the arrows on the left).
# Then ask for records of your types: the editor completes their names.
{
  _base
}
`

/**
 * Renders the GraphiQL page of all bases or of one, with all scripts and fonts inline. `renderInWorker` runs it.
 * Without an endpoint, requests go to the address of the page.
 */
export const make = (of: 'all' | 'base'): Buffer => Buffer.from(page(of === 'all' ? WELCOME : BASE_WELCOME))

const page = (welcome: string): string =>
  renderGraphiQL({
    title: 'Plinth GraphQL',
    defaultQuery: welcome,
    headers: JSON.stringify({ authorization: 'Bearer plt_your_token' }, null, 2),
    defaultEditorToolsVisibility: 'headers',
    // Do not keep tokens in browser storage.
    shouldPersistHeaders: false,
  } as Parameters<typeof renderGraphiQL>[0])
