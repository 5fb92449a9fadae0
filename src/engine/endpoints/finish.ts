import { announce } from '../caches.ts'
import { appendChange } from '../changes.ts'
import type { Endpoint as EndpointRow, Toolset as ToolsetRow } from '../prisma/client.ts'
import type { WriteScope } from '../write.ts'
import { toEndpoint } from './endpoint.ts'
import { toToolset } from './toolset.ts'

type Operation = 'create' | 'update' | 'delete'

/** Logs the change of a toolset and lets every process know of it. */
export const finishToolset = (scope: WriteScope, row: ToolsetRow, operation: Operation) =>
  finish(scope, 'toolset', row, operation, toToolset(row))

/** The same of an endpoint. */
export const finishEndpoint = (scope: WriteScope, row: EndpointRow, operation: Operation) =>
  finish(scope, 'endpoint', row, operation, toEndpoint(row))

async function finish(
  scope: WriteScope,
  kind: 'endpoint' | 'toolset',
  { baseId, id, version }: { baseId: string; id: string; version: number },
  operation: Operation,
  state: object,
): Promise<void> {
  await appendChange(scope, { baseId, kind, id, operation, version, state })
  await announce(scope.db, `endpoints:${baseId}`)
  scope.onCommit(() => scope.caches.forget(`endpoints:${baseId}`))
}
