import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  CallToolRequestSchema,
  InitializeRequestSchema,
  isJSONRPCRequest,
  type JSONRPCMessage,
  JSONRPCMessageSchema,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv'
import { toContent, toProtocolFailure } from './content.ts'
import { callTool, listTools } from './core.ts'
import { about, INSTRUCTIONS } from './instructions.ts'
import type { Session } from './session.ts'

/** Never asked, but every server would make one of its own, at a fifth of the cost of a call. */
const jsonSchemaValidator = new AjvJsonSchemaValidator()

/** The protocol's `initialize` era, 2024-11-05 to 2025-11-25: one server for one exchange, nothing kept between. */
function serverOf(session: Session, onInternal: (cause: unknown) => void): Server {
  const server = new Server(about, {
    capabilities: { tools: {} },
    instructions: INSTRUCTIONS,
    jsonSchemaValidator,
  })
  const { requestId } = session.context.scope
  server.setRequestHandler(ListToolsRequestSchema, async ({ params }) => {
    try {
      return { tools: (await listTools(session, params?.cursor)) as never }
    } catch (thrown) {
      throw asRpcError(toProtocolFailure(thrown, requestId, onInternal))
    }
  })
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    try {
      return toContent(await callTool(session, params.name, params.arguments ?? {}), onInternal)
    } catch (thrown) {
      throw asRpcError(toProtocolFailure(thrown, requestId, onInternal))
    }
  })
  return server
}

/** The SDK sends the code, message and data of what is thrown; its own error class puts words before the message. */
const asRpcError = ({ code, message, data }: ReturnType<typeof toProtocolFailure>) =>
  Object.assign(new Error(message), { code, data })

/** Messages in, answers out, for as long as the exchange lasts. */
class Exchange implements Transport {
  onmessage?: NonNullable<Transport['onmessage']>
  onclose?: () => void
  onerror?: (error: Error) => void
  readonly answers: JSONRPCMessage[] = []
  private done: () => void = () => {}
  private open: Set<string | number>

  constructor(ids: readonly (string | number)[]) {
    this.open = new Set(ids)
  }
  async start(): Promise<void> {}
  async send(message: JSONRPCMessage): Promise<void> {
    // Without a stream there is nowhere for notifications to go.
    if (!('id' in message) || message.id === undefined || 'method' in message) return
    this.answers.push(message)
    this.open.delete(message.id)
    if (this.open.size === 0) this.done()
  }
  async close(): Promise<void> {
    this.onclose?.()
    this.done()
  }
  /** Resolves when every request is answered, or the exchange is closed. */
  finished(): Promise<void> {
    if (this.open.size === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.done = resolve
    })
  }
}

const MAX_BATCH = 100

export type LegacyAnswer = { status: number; body: object | null }

/** Serves one POST of the `initialize` era. A batch is answered as one. */
export async function serveLegacy(
  body: unknown,
  session: Session,
  signal: AbortSignal,
  onInternal: (cause: unknown) => void,
): Promise<LegacyAnswer> {
  const batch = Array.isArray(body)
  const raw: unknown[] = batch ? body : [body]
  if (raw.length === 0 || raw.length > MAX_BATCH)
    return refused(-32600, `A batch has 1 to ${MAX_BATCH} messages.`)
  const messages: JSONRPCMessage[] = []
  for (const each of raw) {
    const parsed = JSONRPCMessageSchema.safeParse(each)
    if (!parsed.success) return refused(-32600, 'The body is not a JSON-RPC 2.0 message.')
    messages.push(parsed.data)
  }
  const requests = messages.filter(isJSONRPCRequest)
  const ids = requests.map((request) => request.id)
  if (new Set(ids).size !== ids.length) return refused(-32600, 'Two requests of one batch share an id.')
  const exchange = new Exchange(ids)
  const server = serverOf(session, onInternal)
  await server.connect(exchange)
  signal.addEventListener('abort', () => void exchange.close(), { once: true })
  const finished = exchange.finished()
  for (const message of messages) {
    const fault = faultIn(message)
    if (fault) await exchange.send(fault)
    else exchange.onmessage?.(message)
  }
  await finished
  await server.close()
  if (requests.length === 0) return { status: 202, body: null }
  return { status: 200, body: batch ? exchange.answers : (exchange.answers[0] ?? null) }
}

const SERVED = {
  initialize: InitializeRequestSchema,
  'tools/list': ListToolsRequestSchema,
  'tools/call': CallToolRequestSchema,
} as const

/** The answer to a request whose params are not those of its method: the SDK would call it an internal error. */
function faultIn(message: JSONRPCMessage): JSONRPCMessage | undefined {
  if (!isJSONRPCRequest(message) || !Object.hasOwn(SERVED, message.method)) return undefined
  const [issue] = SERVED[message.method as keyof typeof SERVED].safeParse(message).error?.issues ?? []
  if (!issue) return undefined
  const where = issue.path.join('.') || 'the request'
  const text = `The params of ${message.method} are not valid: ${where}: ${issue.message}.`
  return { jsonrpc: '2.0', id: message.id, error: { code: -32602, message: text } }
}

const refused = (code: number, message: string): LegacyAnswer => ({
  status: 400,
  body: { jsonrpc: '2.0', id: null, error: { code, message } },
})
