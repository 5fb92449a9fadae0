/**
 * Lists and calls tools through an agent framework, as its users do. Arguments: the framework, the address, the
 * token and the calls as JSON. Prints `{ tools, strict, answers }`: the names that the framework has after converting
 * all definitions, and the text of each answer.
 */
const [framework, url, token, calls] = process.argv.slice(2)
const requestInit = { headers: { Authorization: `Bearer ${token}` } }

const FRAMEWORKS = {
  /** Converts every definition for Gemini's `parameters`, which has the narrowest schema language. */
  async langchain() {
    const { MultiServerMCPClient } = await import('@langchain/mcp-adapters')
    const { ChatGoogleGenerativeAI } = await import('@langchain/google-genai')
    const client = new MultiServerMCPClient({
      mcpServers: { plinth: { transport: 'http', url, ...requestInit } },
    })
    const tools = await client.getTools()
    const model = new ChatGoogleGenerativeAI({ apiKey: 'none', model: 'gemini-2.5-flash' })
    const [{ functionDeclarations }] = model.invocationParams({ tools }).tools
    const named = new Map(tools.map((tool) => [tool.name, tool]))
    return {
      tools: functionDeclarations.map(({ name }) => name),
      call: (name, args) => named.get(name).invoke(args),
      close: () => client.close(),
    }
  },

  async 'google-genai'() {
    const { mcpToTool } = await import('@google/genai')
    const client = await connect()
    const callable = mcpToTool(client)
    const { functionDeclarations } = await callable.tool()
    return {
      tools: functionDeclarations.map(({ name }) => name),
      call: (name, args) => callable.callTool([{ name, args }]),
      close: () => client.close(),
    }
  },

  'openai-agents': () => openaiAgents({}),
  'openai-agents-strict': () => openaiAgents({ convertSchemasToStrict: true }),
  async mastra() {
    const { MCPClient } = await import('@mastra/mcp')
    const client = new MCPClient({ servers: { plinth: { url: new URL(url), requestInit } } })
    const tools = await client.listTools()
    return {
      tools: Object.keys(tools).map((name) => name.replace(/^plinth_/, '')),
      call: (name, args) => tools[`plinth_${name}`].execute(args),
      close: () => client.disconnect(),
    }
  },

  async genkit() {
    const { genkit } = await import('genkit')
    const { createMcpClient } = await import('@genkit-ai/mcp')
    const client = createMcpClient({ name: 'plinth', mcpServer: { url, requestInit } })
    await client.ready()
    const tools = await client.getActiveTools(genkit({}))
    const named = new Map(tools.map((tool) => [tool.__action.name.replace(/^.*\//, ''), tool]))
    return {
      tools: [...named.keys()],
      call: (name, args) => named.get(name)(args),
      close: () => client.disable(),
    }
  },
}

/** `strict` has the names of the tools that the framework could convert to its strict schemas. */
async function openaiAgents(options) {
  const { MCPServerStreamableHttp, RunContext, getAllMcpTools } = await import('@openai/agents')
  const server = new MCPServerStreamableHttp({ url, requestInit })
  await server.connect()
  const tools = await getAllMcpTools({ mcpServers: [server], ...options })
  const named = new Map(tools.map((tool) => [tool.name, tool]))
  return {
    tools: [...named.keys()],
    strict: tools.filter((tool) => tool.strict).map(({ name }) => name),
    call: (name, args) => named.get(name).invoke(new RunContext(), JSON.stringify(args)),
    close: () => server.close(),
  }
}

async function connect() {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js')
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js')
  const client = new Client({ name: 'frameworks', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
  return client
}

const { tools, strict = [], call, close } = await FRAMEWORKS[framework]()
const answers = []
for (const { name, arguments: args } of JSON.parse(calls))
  answers.push(JSON.stringify(await call(name, args).catch((error) => ({ failed: String(error) }))))
await close()
process.stdout.write(`${JSON.stringify({ tools, strict, answers })}\n`)
process.exit(0)
