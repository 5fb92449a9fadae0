/** Actions as tools of endpoints. */
import type { Step } from '../../../contract/action-shapes.ts'
import type { RunAs } from '../../../contract/endpoint-shapes.ts'
import type { Action as Row } from '../../prisma/client.ts'
import type { ServedAction } from '../../schema/compiled-types/compiled-endpoint.ts'
import { typesNamed } from '../actions/index.ts'
import { actionToolName } from './toolset-members.ts'

export function servedAction(row: Row, runAs: RunAs): ServedAction {
  const steps = row.steps as Step[]
  const typesOf = (of: readonly Step[]) => [
    ...new Set(typesNamed(of).flatMap(({ kind, id }) => (kind === 'record_type' ? [id] : []))),
  ]
  return {
    name: actionToolName(row.id),
    id: row.id,
    runAs,
    title: row.name,
    description: row.description,
    inputSchema: row.inputSchema,
    isRead: steps.every(({ type }) => type === 'query'),
    isOpen: steps.some(({ type }) => type === 'http'),
    reads: typesOf(steps.filter(({ type }) => type === 'query')),
    writes: typesOf(steps.filter(({ type }) => type !== 'query')),
    changesTypes: steps.some(({ type }) => type.endsWith('_type')),
  }
}
