import { oneFault } from '../../../foundation/errors.ts'
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
 * @throws FORBIDDEN without a grant that reaches the endpoint, whether or not it exists; NOT_FOUND if it is
 * absent or disabled
 */
export async function enterEndpoint(scope: Scope, baseId: string, id: string): Promise<Scope> {
  const permission = scope.access.atEndpoint(baseId, id)
  if (permission === null) requireBaseAccess(scope.access, baseId)
  const endpoint = await requireEndpoint(scope, baseId, id)
  const entered = { ...scope, standing: standingAt(scope, baseId, endpoint) }
  if (permission === null) return entered
  const types = [
    ...endpoint.tools.map(({ recordType }) => recordType),
    // An action with rights of its own gives its caller none.
    ...endpoint.actions.flatMap(({ runAs, reads, writes }) =>
      runAs === 'caller' ? [...reads, ...writes] : [],
    ),
  ]
  return { ...entered, access: accessAtEndpoint(scope.access, baseId, types, permission) }
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
  await requireBase(scope, baseId)
  throw notFound(ENDPOINT, id)
}

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
  oneFault('FORBIDDEN', 'The endpoint changed during the request.', {
    path: '',
    code: 'endpoint_changed',
    message: 'Nothing was written. List the tools and call again.',
  })
