/** What a person can allow a client: bases, types and endpoints that the person sees, and permissions that the person has. */
import type { Engine } from '../../engine/engine.ts'
import { type Grant, level, listed, PERMISSIONS } from '../../engine/storage/access/grants.ts'
import { DomainError } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import type { Context, Permission } from '../../graphql/context.ts'
import { staticOperation } from '../../graphql/execute.ts'
import type { Resource } from '../addresses.ts'

type Named = { id: string; name: string }
/** What can be allowed in a base, or of all bases. */
export type Choices = {
  base: string
  types: readonly Named[]
  endpoints: readonly Named[]
  /** Whether there is anything besides endpoints. */
  hasTypes: boolean
  permissions: readonly Permission[]
}

export const ALL = '*'

const listBases = staticOperation(
  `query ConsentBases($limit: Int) { bases(limit: $limit) { data { id name } } }`,
)
const listTypes = staticOperation(
  `query ConsentTypes($base: String!, $limit: Int) { recordTypes(base: $base, limit: $limit) { data { id name } } }`,
)
const listEndpoints = staticOperation(
  `query ConsentEndpoints($base: String!, $limit: Int) { endpoints(base: $base, limit: $limit) { data { id name } } }`,
)

/** The list; nothing where the person may not read it. */
async function seen<T>(list: () => Promise<readonly T[]>): Promise<readonly T[]> {
  try {
    return await list()
  } catch (thrown) {
    if (thrown instanceof DomainError && (thrown.code === 'FORBIDDEN' || thrown.code === 'NOT_FOUND'))
      return []
    throw thrown
  }
}

/** The bases of the person that the address serves. */
export async function basesFor(context: Context, { base }: Resource): Promise<readonly Named[]> {
  const { access } = context.scope
  if (base !== null) return access.knows(base) ? [{ id: base, name: base }] : []
  const found = await seen(async () => (await listBases({ limit: LIMITS.pageMax }, context)).bases.data)
  // Grants on endpoints alone show no base in the list.
  return withNamed(found, access.grants, 'base')
}

/** The list, and what grants name that it does not show. */
function withNamed(
  found: readonly Named[],
  grants: readonly Grant[],
  part: 'base' | 'endpoint',
): readonly Named[] {
  const known = new Set([ALL, ...found.map(({ id }) => id)])
  const named = new Set(grants.flatMap((grant) => listed(grant[part])))
  return [...found, ...[...named].flatMap((id) => (known.has(id) ? [] : { id, name: id }))]
}

/** What can be allowed in the base, or of all bases; undefined if the person has nothing there. */
export async function choicesIn(
  { authorizations }: Pick<Engine, 'authorizations'>,
  context: Context,
  base: string,
  { endpoint: only }: Resource,
): Promise<Choices | undefined> {
  const reach = { base, types: null, endpoint: only, permission: 'admin' as const, proposes: false }
  const own = authorizations.part(context.scope, reach)
  if (own.length === 0) return undefined
  const most = Math.max(...own.map(({ permission }) => level(permission)))
  const hasTypes = only === null && own.some((grant) => grant.record_type !== undefined)
  const permissions = PERMISSIONS.slice(0, hasTypes ? most + 1 : Math.min(most + 1, 2))
  if (base === ALL) return { base, types: [], endpoints: [], hasTypes, permissions }
  const within = { base, limit: LIMITS.pageMax }
  const types = hasTypes ? await seen(async () => (await listTypes(within, context)).recordTypes.data) : []
  const found = await seen(async () => (await listEndpoints(within, context)).endpoints.data)
  const endpoints = withNamed(found, own, 'endpoint').filter(({ id }) => only === null || id === only)
  return { base, types, endpoints, hasTypes, permissions }
}
