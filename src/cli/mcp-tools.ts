/** `plinth mcp tools`: what an MCP address offers. */
import { misused } from './command/failure.ts'
import { note, showJson, showRows } from './command/print.ts'
import type { Settings } from './command/settings.ts'
import type { AddressOptions } from './mcp-relay/address-path.ts'
import { toolsOf } from './mcp-relay/check-address.ts'

type Seen = { data: Record<string, unknown>[]; meta: { tokens: number; warnings?: string[] } }

/** Prints the tools with their cost in tokens. */
export async function showTools(settings: Settings, scope: AddressOptions, asJson: boolean): Promise<void> {
  if (scope.base === undefined) throw misused('The base is missing. Pass --base <id>, or set PLINTH_BASE.')
  const answer = await toolsOf(scope.base, settings, scope)
  if (asJson) return showJson(answer)
  const { data, meta } = answer.body as Seen
  showRows(data, ['name', 'tokens', 'description'])
  note(`${meta.tokens} tokens in all\n`)
  for (const warning of meta.warnings ?? []) note(`${warning}\n`)
}
