import { misused } from '../command/failure.ts'

/** What of a server a client is to see. */
export type AddressScope = {
  base: string | undefined
  endpoint: string | undefined
  /** Only tools that change nothing. */
  isReadOnly: boolean
  /** Only these record types, and only these tools, with commas between them. */
  types?: string | undefined
  tools?: string | undefined
}

/** The path and query of the address that serves it. */
export function mcpPath({ base, endpoint, isReadOnly, types, tools }: AddressScope): string {
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
  }).toString()
  return `${path}${query && `?${query}`}`
}
