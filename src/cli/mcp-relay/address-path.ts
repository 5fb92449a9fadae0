import { misused } from '../command/failure.ts'

/** The part of a server that an MCP client sees. */
export type AddressOptions = {
  base: string | undefined
  endpoint?: string | undefined
  /** Read tools only. */
  isReadOnly: boolean
  /** Comma-separated restrictions to record types and tools. */
  types?: string | undefined
  tools?: string | undefined
  /** Which list of tools; the default one if absent. */
  profile?: string | undefined
}

/** Builds the path and query of the MCP address. */
export function mcpPath(scope: AddressOptions): string {
  const { base, endpoint } = scope
  if (endpoint !== undefined && base === undefined)
    throw misused('--base is missing: an endpoint belongs to a base. Add --base <id>.')
  for (const id of [base, endpoint])
    if (id !== undefined && /^\.{0,2}$/.test(id)) throw misused(`"${id}" is not an id.`)
  const parts = [...(base === undefined ? [] : [base]), ...(endpoint === undefined ? [] : ['e', endpoint])]
  const path = ['/mcp', ...parts.map((part) => encodeURIComponent(part))].join('/')
  const query = restrictionsOf(scope).toString()
  return `${path}${query && `?${query}`}`
}

/** What an address leaves out, as query parameters. */
export function restrictionsOf({ isReadOnly, types, tools, profile }: AddressOptions): URLSearchParams {
  const all = Object.entries({ readonly: isReadOnly ? '1' : undefined, types, tools, profile })
  return new URLSearchParams(all.filter((each): each is [string, string] => each[1] !== undefined))
}
