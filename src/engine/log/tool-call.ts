/** The MCP tool call behind a change, as the change log stores it. */

export type ToolCall = {
  /** JSON-RPC id of the call. */
  readonly id: string
  readonly tool: string
  readonly endpoint: string | null
  /** Name and version that the client gave. */
  readonly client: string | null
  /** W3C trace id. */
  readonly traceId: string | null
}

/** Column value: a JSON array without trailing nulls, because every entry of a call repeats it. */
export type PackedCall = readonly [id: string, tool: string, ...rest: (string | null)[]]

export function packCall(call: ToolCall | null | undefined): string | null {
  if (!call) return null
  const parts = [call.id, call.tool, call.endpoint, call.client, call.traceId]
  return JSON.stringify(parts.slice(0, 1 + parts.findLastIndex((part) => part !== null)))
}

export function unpackCall(packed: PackedCall | null): ToolCall | null {
  if (packed === null) return null
  const [id, tool, endpoint = null, client = null, traceId = null] = packed
  return { id, tool, endpoint, client, traceId }
}
