/** Addresses of the pages. All that changes what is shown is in the address, and never a token. */
const at = (base: string, ...parts: readonly (string | undefined)[]): string =>
  `/b/${[base, ...parts.filter((part) => part !== undefined)].map(encodeURIComponent).join('/')}`

export const to = {
  home: () => '/',
  activity: (base: string, search: Search = {}) => at(base) + print(search),
  request: (base: string, request: string) => at(base, 'r', request),
  records: (base: string, type: string, search: Search = {}) => at(base, 't', type) + print(search),
  record: (base: string, type: string, id: string, search: Search = {}) =>
    at(base, 't', type, id) + print(search),
  review: (base: string, id?: string, search: Search = {}) => at(base, 'review', id) + print(search),
  agents: (base: string, token?: string) => at(base, 'agents', token),
  endpoint: (base: string, endpoint: string) => at(base, 'agents', 'e', endpoint),
  files: (base: string, type?: string, search: Search = {}) => at(base, 'files', type) + print(search),
  automation: (base: string, of?: { kind: string; id: string }, search: Search = {}) =>
    at(base, 'automation', of?.kind, of?.id) + print(search),
  environments: (base: string, preview?: string) => at(base, 'env', preview),
  types: (base: string, type?: string) => at(base, 'types', type),
  operate: (base: string) => at(base, 'operate'),
  ask: (base: string, search: Search = {}) => at(base, 'ask') + print(search),
  playground: (base: string) => `/graphql/${encodeURIComponent(base)}`,
} as const

/** What a page is of: the parts of its path. */
export type Place = Readonly<Record<string, string>> & { readonly base: string }
export type PageProps = { place: Place }

/** Parameters of an address. Absent and empty ones are left out. */
export type Search = Readonly<Record<string, string | undefined>>

export function print(search: Search): string {
  const given = Object.entries(search).filter((each): each is [string, string] => Boolean(each[1]))
  const text = new URLSearchParams(given).toString()
  return text && `?${text}`
}

export const parse = (text: string): Record<string, string> => Object.fromEntries(new URLSearchParams(text))

/** The search with some parameters changed. */
export const changed = (text: string, changes: Search): string => print({ ...parse(text), ...changes })
