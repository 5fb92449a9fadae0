/**
 * Uses `/graphql/{base}` through a GraphQL client, as its users do, without any configuration beyond the address.
 * Arguments: the client, the address, the token and a directory for generated files. Prints its findings as JSON.
 */
import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const [client, url, token, directory] = process.argv.slice(2)
const headers = { authorization: `Bearer ${token}` }

const LIST = `query List { ticketRecords(sort: [{ id: ASC }]) { nodes { id title address { city } customer { id name } } } }`
const ONE = `query One { ticket(id: "t1") { id stage _version customer { id name } } }`
const CUSTOMERS = `query Customers { customerRecords(sort: [{ id: ASC }]) { nodes { id name customer_of { nodes { id title } } } } }`
const UPDATE = `mutation Update { updateTicket(id: "t1", data: { title: "Changed" }) { ticket { id title _version } } }`
const DOCUMENTS = [LIST, ONE, CUSTOMERS, UPDATE]

let requests = 0
const counted = (input, init) => {
  requests++
  return fetch(input, init)
}
const warnings = []
// urql aborts its requests when it has their answers.
process.on('unhandledRejection', (thrown) => {
  if (thrown?.name !== 'AbortError') throw thrown
})
for (const level of ['warn', 'error']) console[level] = (...words) => warnings.push(words.join(' '))

const sdl = async () => (await fetch(`${url}/schema.graphql`, { headers })).text()

const CLIENTS = {
  /** The title in the list after another query and a mutation of the record, from the cache alone. */
  async apollo() {
    const { ApolloClient, HttpLink, InMemoryCache, gql } = await import('@apollo/client')
    const cache = new InMemoryCache()
    const apollo = new ApolloClient({ cache, link: new HttpLink({ uri: url, headers, fetch: counted }) })
    for (const text of [LIST, ONE, CUSTOMERS]) await apollo.query({ query: gql(text) })
    await apollo.mutate({ mutation: gql(UPDATE) })
    const list = await apollo.query({ query: gql(LIST), fetchPolicy: 'cache-first' })
    const { PersistedQueryLink } = await import('@apollo/client/link/persisted-queries')
    const sha256 = (text) => createHash('sha256').update(text).digest('hex')
    for (const useGETForQueries of [true, false]) {
      const http = new HttpLink({ uri: url, headers, useGETForQueries })
      const link = useGETForQueries ? http : new PersistedQueryLink({ sha256 }).concat(http)
      const { data } = await new ApolloClient({ cache: new InMemoryCache(), link }).query({
        query: gql(LIST),
      })
      if (data.ticketRecords.nodes.length === 0) throw new Error('no records')
    }
    return { list: list.data.ticketRecords.nodes.map(plain), keys: Object.keys(cache.extract()).sort() }
  },

  async urql() {
    const { Client, fetchExchange, gql } = await import('@urql/core')
    const { cacheExchange } = await import('@urql/exchange-graphcache')
    const urql = new Client({
      url,
      exchanges: [cacheExchange({ logger: (_level, text) => warnings.push(text) }), fetchExchange],
      fetch: counted,
      fetchOptions: { headers },
    })
    for (const text of [LIST, ONE, CUSTOMERS]) await answered(urql.query(gql(text), {}))
    await answered(urql.mutation(gql(UPDATE), {}))
    const list = await answered(urql.query(gql(LIST), {}, { requestPolicy: 'cache-only' }))
    return { list: list.ticketRecords.nodes.map(plain) }
  },

  /** Faults of the generated code and of a use of it, under strict TypeScript. */
  async codegen() {
    const { generate } = await import('@graphql-codegen/cli')
    await mkdir(join(directory, 'src'), { recursive: true })
    const documents = DOCUMENTS.map((text, n) => `export const d${n} = graphql(\`${text}\`)`)
    const use = `import type { ListQuery } from './gql/graphql'
export const titles = (list: ListQuery): (string | null | undefined)[] => list.ticketRecords.nodes.map(({ title }) => title)
`
    const source = join(directory, 'src/documents.ts')
    await writeFile(source, `import { graphql } from './gql'\n${documents.join('\n')}\n${use}`)
    const config = { scalars: { DateTime: 'string', Date: 'string', JSON: 'unknown' }, strictScalars: true }
    await generate(
      {
        schema: [{ [url]: { headers } }],
        documents: [source],
        generates: { [`${join(directory, 'src/gql')}/`]: { preset: 'client', config } },
        silent: true,
      },
      true,
    )
    const { default: ts } = await import('typescript')
    const program = ts.createProgram([source], {
      strict: true,
      noEmit: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: true,
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      target: ts.ScriptTarget.ES2022,
      types: [],
    })
    const faults = ts.getPreEmitDiagnostics(program)
    return { faults: faults.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n')) }
  },

  /** What relay-compiler says of a page with a connection. */
  async relay() {
    const { execFile } = await import('node:child_process')
    const { default: binary } = await import('relay-compiler')
    await mkdir(join(directory, 'src/__generated__'), { recursive: true })
    await writeFile(join(directory, 'schema.graphql'), await sdl())
    const page = `query PageQuery($after: String) { ticketRecords(first: 2, after: $after) @connection(key: "Page_ticketRecords") { edges { node { id title customer { id name } } } } }`
    await writeFile(join(directory, 'src/Page.js'), `graphql\`${page}\`\n`)
    const config = {
      src: './src',
      schema: './schema.graphql',
      language: 'javascript',
      excludes: [],
      artifactDirectory: './src/__generated__',
    }
    await writeFile(join(directory, 'relay.config.json'), JSON.stringify(config))
    const said = await new Promise((resolve) => {
      execFile(binary, [], { cwd: directory }, (error, out, err) =>
        resolve({ code: error?.code ?? 0, text: out + err }),
      )
    })
    const made = await readFile(join(directory, 'src/__generated__/PageQuery.graphql.js'), 'utf8').catch(
      () => '',
    )
    return { ...said, isMade: made.includes('PageQuery') }
  },

  /** Every check of GraphQL over HTTP that is not passed. */
  async audit() {
    const { auditServer } = await import('graphql-http')
    const found = []
    for (const at of [url, url.replace(/\/[^/]+$/, '')]) {
      const results = await auditServer({
        url: at,
        fetchFn: (input, init) => fetch(input, { ...init, headers: { ...init?.headers, ...headers } }),
      })
      for (const { status, name, reason } of results)
        if (status !== 'ok') found.push({ at, status, name, reason })
    }
    return { found }
  },
}

const answered = async (request) => {
  const { data, error } = await request.toPromise()
  if (error) throw error
  return data
}
/** Without the names of types, which caches add. */
const plain = (value) =>
  JSON.parse(JSON.stringify(value, (key, each) => (key === '__typename' ? undefined : each)))

const findings = await CLIENTS[client]()
process.stdout.write(`${JSON.stringify({ ...findings, requests, warnings })}\n`)
process.exit(0)
