/** Addresses of the pages. All that changes what is shown is in the address, and never a token. */
const part = encodeURIComponent

export const to = {
  home: () => '/',
  activity: (base: string, search: Search = {}) => `/b/${part(base)}${print(search)}`,
  request: (base: string, request: string) => `/b/${part(base)}/r/${part(request)}`,
  records: (base: string, type: string, search: Search = {}) =>
    `/b/${part(base)}/t/${part(type)}${print(search)}`,
  record: (base: string, type: string, id: string, search: Search = {}) =>
    `/b/${part(base)}/t/${part(type)}/${part(id)}${print(search)}`,
  review: (base: string, id?: string, search: Search = {}) =>
    `/b/${part(base)}/review${id === undefined ? '' : `/${part(id)}`}${print(search)}`,
  agents: (base: string, token?: string) =>
    `/b/${part(base)}/agents${token === undefined ? '' : `/${part(token)}`}`,
  endpoint: (base: string, endpoint: string) => `/b/${part(base)}/agents/e/${part(endpoint)}`,
  files: (base: string, type?: string, search: Search = {}) =>
    `/b/${part(base)}/files${type === undefined ? '' : `/${part(type)}`}${print(search)}`,
  automation: (base: string, of?: { kind: string; id: string }, search: Search = {}) =>
    `/b/${part(base)}/automation${of ? `/${part(of.kind)}/${part(of.id)}` : ''}${print(search)}`,
  environments: (base: string, preview?: string) =>
    `/b/${part(base)}/env${preview === undefined ? '' : `/${part(preview)}`}`,
  types: (base: string, type?: string) =>
    `/b/${part(base)}/types${type === undefined ? '' : `/${part(type)}`}`,
  operate: (base: string) => `/b/${part(base)}/operate`,
  ask: (base: string, search: Search = {}) => `/b/${part(base)}/ask${print(search)}`,
  playground: (base: string) => `/graphql/${part(base)}`,
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

export const parse = (text: string): Search => Object.fromEntries(new URLSearchParams(text))

/** The search with some parameters changed. */
export const changed = (text: string, changes: Search): string => print({ ...parse(text), ...changes })
