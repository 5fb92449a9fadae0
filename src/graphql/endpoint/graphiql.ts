import { readFileSync } from 'node:fs'
import { renderGraphiQL } from '@graphql-yoga/render-graphiql'

const WELCOME = `# All bases. Choose one above to complete
# the fields of its record types.
{
  bases {
    data { id name counts }
    hasMore
  }
}
`

const BASE_WELCOME = `# Records of your types.
# Ctrl+Space completes names.
{
  _base
}
`

/** The bar above GraphiQL, which has the token of the tab. */
const SIGN_IN = readFileSync(new URL('./sign-in.html', import.meta.url), 'utf8')

/**
 * Renders the GraphiQL page of all bases or of one, with all scripts and fonts inline. `renderInWorker` runs it.
 * Without an endpoint, requests go to the address of the page.
 */
export const make = (of: 'all' | 'base'): Buffer => Buffer.from(page(of === 'all' ? WELCOME : BASE_WELCOME))

function page(welcome: string): string {
  const graphiql = renderGraphiQL({
    title: 'Plinth GraphQL',
    defaultQuery: welcome,
    // Do not keep tokens in browser storage.
    shouldPersistHeaders: false,
  } as Parameters<typeof renderGraphiQL>[0])
  const at = graphiql.indexOf(BODY) + BODY.length
  if (at < BODY.length) throw new Error('The page of GraphiQL has no body')
  // Before GraphiQL, which sends its first request when its script runs.
  return `${graphiql.slice(0, at)}${SIGN_IN}${graphiql.slice(at)}`
}

const BODY = '<body id="body" class="no-focus-outline">'
