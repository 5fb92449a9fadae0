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
export function mcpPath({ base, endpoint, isReadOnly, types, tools, profile }: AddressOptions): string {
  if (endpoint !== undefined && base === undefined)
    throw misused('--base is missing: an endpoint belongs to a base. Add --base <id>.')
  for (const id of [base, endpoint])
    if (id !== undefined && /^\.{0,2}$/.test(id)) throw misused(`"${id}" is not an id.`)
  const parts = [...(base === undefined ? [] : [base]), ...(endpoint === undefined ? [] : ['e', endpoint])]
  const path = ['/mcp', ...parts.map((part) => encodeURIComponent(part))].join('/')
  const query = new URLSearchParams({
    ...(isReadOnly && { readonly: '1' }),
    ...(types !== undefined && { types }),
    ...(tools !== undefined && { tools }),
    ...(profile !== undefined && { profile }),
  }).toString()
  return `${path}${query && `?${query}`}`
}
