import { DomainError } from '../../../foundation/errors.ts'
import { requireBase } from '../../core/existing-base.ts'
import type { Scope, Standing } from '../../core/scope.ts'
import type { CompiledEndpoint } from '../../schema/compiled-types/compiled-endpoint.ts'
import { requireBaseAccess } from '../../storage/access/access.ts'
import { accessAtEndpoint } from '../../storage/access/narrow-access.ts'
import { notFound } from '../lifecycle/read.ts'
import { ENDPOINT } from './endpoint.ts'
import { cachedEndpointsOf, endpointsOf } from './load-endpoints.ts'

/**
 * The scope of a caller at an endpoint. Endpoint grants become rights on the records of its types, which
 * `endpointPolicy` limits. Writes check again that the endpoint is still the same.
 * @throws FORBIDDEN without a grant on the base; NOT_FOUND if the endpoint is absent or disabled, or has nothing of the token
 */
export async function enterEndpoint(scope: Scope, baseId: string, id: string): Promise<Scope> {
  const { access } = scope
  const permission = access.atEndpoint(baseId, id)
  if (permission === null) requireBaseAccess(access, baseId)
  const endpoint = await requireEndpoint(scope, baseId, id)
  const entered = { ...scope, standing: standingAt(scope, baseId, endpoint) }
  const types = [
    ...endpoint.tools.map(({ recordType }) => recordType),
    // An action with rights of its own gives its caller none.
    ...endpoint.actions.flatMap((each) => (each.runAs === 'caller' ? [...each.reads, ...each.writes] : [])),
  ]
  if (permission !== null) return { ...entered, access: accessAtEndpoint(access, baseId, types, permission) }
  // Who reads a part of the base does not learn which endpoints the rest of it has. Who is at one has left its grant behind.
  const reads = (type: string) => access.allows('read', baseId, type)
  if (!access.whole?.atEndpoint(baseId, id) && !['*', ...types].some(reads))
    throw await absent(scope, baseId, id)
  return entered
}

/** @throws NOT_FOUND if the endpoint is absent or, unless `evenOff`, disabled */
export async function requireEndpoint(
  scope: Scope,
  baseId: string,
  id: string,
  evenOff = false,
): Promise<CompiledEndpoint> {
  const endpoint = (await endpointsOf(scope, baseId)).get(id)
  if (endpoint && (endpoint.enabled || evenOff)) return endpoint
  throw await absent(scope, baseId, id)
}

const absent = async (scope: Scope, baseId: string, id: string): Promise<DomainError> =>
  requireBase(scope, baseId).then(() => notFound(ENDPOINT, id))

/**
 * Calls `end` when the endpoint that the scope is at is another one than at its start, or off. For streams. Returns how
 * to stop listening; elsewhere than at an endpoint there is nothing to listen to.
 */
export function onEndpointChange(scope: Scope, baseId: string, end: () => void): () => void {
  const { standing, caches } = scope
  if (!standing) return () => {}
  const check = () => void standing.recheck(scope).catch(end)
  check()
  return caches.onAnnounced((topic) => {
    const [kind, key] = topic?.split(/:(.*)/s) ?? []
    const isOurs = kind === 'endpoint' || kind === 'toolset' ? key?.startsWith(`${baseId}/`) : topic === null
    if (isOurs) check()
  })
}

function standingAt({ caches }: Scope, baseId: string, { id, stamp }: CompiledEndpoint): Standing {
  const isSame = (found: CompiledEndpoint | undefined) => found?.enabled === true && found.stamp === stamp
  return {
    isCurrent: () => isSame(cachedEndpointsOf({ caches }, baseId)?.get(id)),
    recheck: async (scope) => {
      if (!isSame((await endpointsOf(scope, baseId)).get(id))) throw changed()
    },
  }
}

const changed = () =>
  new DomainError('FORBIDDEN', 'The endpoint changed during the request.', {
    details: [
      { path: '', code: 'endpoint_changed', message: 'Nothing was written. List the tools and call again.' },
    ],
  })
