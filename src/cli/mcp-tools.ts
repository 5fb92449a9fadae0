/** `plinth mcp tools`: what an MCP address offers. */
import { call } from './command/client.ts'
import { misused } from './command/failure.ts'
import { note, showJson, showRows } from './command/print.ts'
import { type Settings, serverUrl, tokenFor } from './command/settings.ts'
import type { AddressOptions } from './mcp-relay/address-path.ts'

type Seen = { data: Record<string, unknown>[]; meta: { tokens: number; warnings?: string[] } }

/** Prints the tools with their cost in tokens. */
export async function showTools(settings: Settings, scope: AddressOptions, asJson: boolean): Promise<void> {
  const { base, isReadOnly, ...others } = scope
  if (base === undefined) throw misused('The base is missing. Pass --base <id>, or set PLINTH_BASE.')
  const query = new URLSearchParams(isReadOnly ? { readonly: '1' } : {})
  for (const [name, value] of Object.entries(others)) if (value !== undefined) query.set(name, value)
  const url = serverUrl(settings)
  const answer = await call(url, tokenFor(url, settings), {
    method: 'GET',
    path: `/${encodeURIComponent(base)}/mcp/tools`,
    query,
    headers: {},
    body: undefined,
    streams: false,
  })
  if (asJson) return showJson(answer)
  const { data, meta } = answer.body as Seen
  showRows(data, ['name', 'tokens', 'description'])
  note(`${meta.tokens} tokens in all\n`)
  for (const warning of meta.warnings ?? []) note(`${warning}\n`)
}
