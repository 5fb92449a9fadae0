/** The first tabs of a base: queries of a record type that has records, with a value that occurs. */
import type { Send } from './send.ts'

const OF_ALL = `# All bases. Choose one above to complete
# the fields of its record types.
{
  bases {
    data { id name counts }
    hasMore
  }
}
`
const OF_BASE = `# Ctrl+Space completes names, Ctrl+Enter runs.
{
  _base
}
`
const LIST = 'Records'
const MOST_TYPES = 50
const MOST_FIELDS = 8

type Field = { name: string; type: { kind: string; ofType: { kind: string } | null } }
type Profile = { field: string; distinct: number; top: { value: unknown; count: number }[] }[]

/** The texts of the tabs. A token that may not read types gets a tab without them. */
export async function starters(address: string, base: string, send: Send): Promise<string[]> {
  if (base === '') return [OF_ALL]
  try {
    return (await ofRecords(address, base, send)) ?? [OF_BASE]
  } catch {
    return [OF_BASE]
  }
}

async function ask<T>(address: string, send: Send, query: string, variables: object = {}): Promise<T> {
  const answer = await send(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  })
  const { data } = (await answer.json()) as { data?: T }
  if (!data) throw new Error('The query failed')
  return data
}

/** The list of a record type, `ticketRecords`, and its first record. */
type Newest = { id: string; _type: string; _createdAt: string }
type Found = { list: string; record: Newest | undefined }

async function ofRecords(address: string, base: string, send: Send): Promise<string[] | undefined> {
  const { __schema } = await ask<{ __schema: { queryType: { fields: { name: string }[] } } }>(
    address,
    send,
    '{ __schema { queryType { fields { name } } } }',
  )
  const roots = new Set(__schema.queryType.fields.map(({ name }) => name))
  const found = await firstWithRecords(
    address,
    send,
    [...roots].filter((root) => root.endsWith(LIST)).slice(0, MOST_TYPES),
  )
  if (!found) return undefined
  const root = found.list.slice(0, -LIST.length)
  const name = root.charAt(0).toUpperCase() + root.slice(1)
  const { __type } = await ask<{ __type: { fields: Field[] } | null }>(
    address,
    send,
    `{ __type(name: "${name}") { fields { name type { kind ofType { kind } } } } }`,
  )
  if (!__type) return undefined
  const isValue = ({ kind }: { kind: string }) => kind === 'SCALAR' || kind === 'ENUM'
  const shown = __type.fields
    .filter(
      ({ name: field, type }) => !field.startsWith('_') && field !== 'id' && isValue(type.ofType ?? type),
    )
    .slice(0, MOST_FIELDS)
    .map(({ name: field }) => field)
  // The profile is that of all records, of which an endpoint may show a part.
  const isWhole = address === `/graphql/${base}`
  const profile = isWhole && found.record ? await profileOf(base, found.record._type, send) : []
  return operations({ name, root }, shown, profile, roots.has(root) ? found.record?.id : undefined)
}

/** One request for all: a base can have many types without records. */
async function firstWithRecords(
  address: string,
  send: Send,
  lists: readonly string[],
): Promise<Found | undefined> {
  if (lists.length === 0) return undefined
  const pages = await ask<Record<string, { nodes: Newest[] }>>(
    address,
    send,
    `{ ${lists.map((list) => `${list}(first: 1) { nodes { id _type _createdAt } }`).join(' ')} }`,
  )
  const found = lists.map((list): Found => ({ list, record: pages[list]?.nodes[0] }))
  // The type that was used last is most likely the one that is meant.
  const newest = found
    .filter(({ record }) => record)
    .sort((one, other) => (other.record?._createdAt ?? '').localeCompare(one.record?._createdAt ?? ''))
  return newest[0] ?? found[0]
}

async function profileOf(base: string, id: string, send: Send): Promise<Profile> {
  const { recordTypeProfile } = await ask<{ recordTypeProfile: { fields: Profile } }>(
    '/graphql',
    send,
    'query ($base: String!, $id: String!) { recordTypeProfile(base: $base, id: $id) { fields { field distinct top { value count } } } }',
    { base, id },
  )
  return recordTypeProfile.fields
}

function operations(
  { name, root }: { name: string; root: string },
  fields: readonly string[],
  profiled: Profile,
  id: string | undefined,
): string[] {
  const record = ['id', ...fields].join(' ')
  const newest = `# Ctrl+Space completes names, Ctrl+Enter runs.
query Newest${name} {
  ${root}Records(first: 10) {
    totalCount
    nodes { ${record} }
  }
}
`
  // A value that several records have, of a field with few values.
  const groups = profiled
    .filter(
      ({ distinct, top }) => distinct > 1 && (top[0]?.count ?? 0) > 1 && typeof top[0]?.value === 'string',
    )
    .sort((one, other) => one.distinct - other.distinct)
  const [group] = groups
  const filtered =
    group &&
    `query ${name}Where {
  ${root}Records(
    first: 10
    filter: { field: ${JSON.stringify(group.field)}, op: "eq", value: ${JSON.stringify(group.top[0]?.value)} }
  ) {
    totalCount
    nodes { ${record} }
  }
}
`
  const one =
    id &&
    `query One${name} {
  ${root}(id: ${JSON.stringify(id)}) { ${record} _version _updatedAt }
}
`
  return [newest, filtered, one].filter((text): text is string => Boolean(text))
}
