/** What works with the record types that change: endpoints of agents, and clients that were generated. */
import { pathOf, useRead } from '../../api/queries.ts'
import type { Endpoint, Page } from '../../api/shapes.ts'
import { Card } from '../../parts/card.tsx'
import { shortName } from '../../parts/proposal.ts'
import { Text } from '../../parts/text.tsx'
import { words } from '../../words.ts'
import type { Proposal } from './load.ts'

export function Programs({ base, plan }: { base: string; plan: Proposal }) {
  const changed = new Set(
    plan.changes.filter(({ kind, op }) => kind === 'record_type' && op !== 'create').map(({ id }) => id),
  )
  const endpoints = useRead<Page<Endpoint>>(pathOf([base, 'endpoints'], { limit: 100 })).data?.data ?? []
  const users = endpoints.filter(({ tools }) => tools.some(({ record_type: type }) => changed.has(type)))
  const warnings = plan.meta?.warnings ?? []
  if (users.length + warnings.length === 0) return null
  return (
    <Card icon="ask" title={words.review.programs}>
      {users.map(({ id, name }) => (
        <p key={id} className="card-item">
          <span>
            {words.review.endpoint} <Text in="strong">{name ?? shortName(id)}</Text> {words.review.usesIt}
          </span>
        </p>
      ))}
      {warnings.map((warning) => (
        <p key={warning} className="card-item">
          <Text>{warning}</Text>
        </p>
      ))}
    </Card>
  )
}
