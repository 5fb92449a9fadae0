/** The host that shows a view: JSON-RPC over `postMessage`, by the specification of MCP Apps of 2026-01-26. */
import type { Json } from '../api/shapes.ts'

export type Body = Record<string, Json | undefined>
/** A result of a tool: `meta` is what the server gives the view only. */
export type Result = { body: Body; meta: Record<string, unknown>; error: string | undefined }
type Message = { id?: number; method?: string; params?: Body; result?: unknown; error?: { message?: string } }
type Raw = {
  structuredContent?: Body
  content?: { type: string; text?: string }[]
  isError?: boolean
  _meta?: Record<string, unknown>
}

const open = new Map<number, { done: (result: unknown) => void; failed: (error: Error) => void }>()
let last = 0

// A host says nothing of its origin. The view sends nothing that the host does not know.
const post = (message: object) => window.parent.postMessage({ jsonrpc: '2.0', ...message }, '*')
const notify = (method: string, params: object = {}) => post({ method, params })

function ask(method: string, params: object): Promise<unknown> {
  const id = ++last
  return new Promise((done, failed) => {
    open.set(id, { done, failed })
    post({ id, method, params })
  })
}

/** How the tools are named that the view may call where it is, by what they do; and what it is told of the place. */
type Place = {
  tools?: { query_records?: string; update_record?: string; undo?: string }
  record_type?: string
  undoes?: string | null
  url?: string
}
export const placeOf = ({ meta }: Result): Place => (meta['plinth/view'] ?? {}) as Place

/** Calls a tool of the server that the view is of. */
export async function callTool(name: string, args: object): Promise<Result> {
  return resultOf((await ask('tools/call', { name, arguments: args })) as Raw)
}

/** Tells the model what the person did. Not every host passes it on. */
export const tellModel = (text: string): void =>
  void ask('ui/update-model-context', { content: [{ type: 'text', text }] }).catch(() => undefined)

export const openLink = (url: string): void => void ask('ui/open-link', { url }).catch(() => undefined)

function resultOf({ structuredContent, content = [], isError, _meta = {} }: Raw): Result {
  const text = content.find(({ type }) => type === 'text')?.text ?? ''
  return { body: structuredContent ?? {}, meta: _meta, error: isError ? messageIn(text) : undefined }
}

function messageIn(text: string): string {
  try {
    return (JSON.parse(text) as { error: { message: string } }).error.message
  } catch {
    return text
  }
}

type Listener = { onResult: (result: Result, args: Body) => void; onCancelled: () => void }

/** Opens the view: says hello, then hears of the call that it shows. */
export async function connect({ onResult, onCancelled }: Listener): Promise<void> {
  let args: Body = {}
  const heard: Readonly<Record<string, (params: Body) => void>> = {
    'ui/notifications/tool-input': (params) => {
      args = (params['arguments'] ?? {}) as Body
    },
    'ui/notifications/tool-result': (params) => onResult(resultOf(params as Raw), args),
    'ui/notifications/tool-cancelled': onCancelled,
    'ui/notifications/host-context-changed': applyContext,
  }
  window.addEventListener('message', ({ source, data }: MessageEvent<Message>) => {
    if (source !== window.parent || typeof data !== 'object' || data === null) return
    const { id, method, params = {}, result, error } = data
    if (method !== undefined) {
      heard[method]?.(params)
      // The host asks before it takes the page down, and is answered.
      if (id !== undefined) post({ id, result: {} })
      return
    }
    const waiting = id === undefined ? undefined : open.get(id)
    if (id === undefined || !waiting) return
    open.delete(id)
    if (error) waiting.failed(new Error(error.message ?? ''))
    else waiting.done(result)
  })
  const hello = {
    appInfo: { name: 'plinth', version: '1.0.0' },
    appCapabilities: { availableDisplayModes: ['inline'] },
    protocolVersion: '2026-01-26',
  }
  const { hostContext } = (await ask('ui/initialize', hello)) as { hostContext?: Body }
  applyContext(hostContext ?? {})
  notify('ui/notifications/initialized')
  const sized = new ResizeObserver(() => {
    const { width, height } = document.documentElement.getBoundingClientRect()
    notify('ui/notifications/size-changed', { width: Math.ceil(width), height: Math.ceil(height) })
  })
  sized.observe(document.documentElement)
}

function applyContext({ theme }: Body): void {
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset['theme'] = theme
}

/** The key of this page. Together with what a result has for the view, it decides. */
export const pageKey = (): string =>
  document.querySelector<HTMLMetaElement>('meta[name="plinth-page-key"]')?.content ?? ''
