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
const MOST_TYPES = 10
const MOST_FIELDS = 8

type Field = { name: string; type: { kind: string; ofType: { kind: string } | null } }
type Profile = {
  count: number
  fields: { field: string; distinct: number; top: { value: unknown; count: number }[] }[]
}

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

async function ofRecords(address: string, base: string, send: Send): Promise<string[] | undefined> {
  const { recordTypes } = await ask<{ recordTypes: { data: { id: string; graphqlName: string }[] } }>(
    '/graphql',
    send,
    `query ($base: String!) { recordTypes(base: $base, limit: ${MOST_TYPES}) { data { id graphqlName } } }`,
    { base },
  )
  const found = await firstWithRecords(base, send, recordTypes.data)
  if (!found) return undefined
  const { name, profile } = found
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
  return operations(name, shown, profile, await firstId(address, send, name))
}

type Found = { name: string; profile: Profile }

async function firstWithRecords(
  base: string,
  send: Send,
  types: readonly { id: string; graphqlName: string }[],
): Promise<Found | undefined> {
  let empty: Found | undefined
  for (const { id, graphqlName: name } of types) {
    const { recordTypeProfile: profile } = await ask<{ recordTypeProfile: Profile }>(
      '/graphql',
      send,
      'query ($base: String!, $id: String!) { recordTypeProfile(base: $base, id: $id) { count fields { field distinct top { value count } } } }',
      { base, id },
    )
    if (profile.count > 0) return { name, profile }
    empty ??= { name, profile }
  }
  return empty
}

const rootOf = (name: string) => name.charAt(0).toLowerCase() + name.slice(1)

async function firstId(address: string, send: Send, name: string): Promise<string | undefined> {
  const list = `${rootOf(name)}Records`
  const data = await ask<Record<string, { nodes: { id: string }[] }>>(
    address,
    send,
    `{ ${list}(first: 1) { nodes { id } } }`,
  )
  return data[list]?.nodes[0]?.id
}

function operations(
  name: string,
  fields: readonly string[],
  { fields: profiled }: Profile,
  id: string | undefined,
): string[] {
  const root = rootOf(name)
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
