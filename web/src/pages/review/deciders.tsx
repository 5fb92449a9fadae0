/** Who may decide: the tokens that hold `admin` on production, of a change-set `write`, and what the proposer may. */
import { pathOf, useRead } from '../../api/queries.ts'
import { useSession } from '../../api/session.ts'
import type { Page, Token } from '../../api/shapes.ts'
import { Card } from '../../parts/card.tsx'
import { allows, signedInAs } from '../../parts/grants.ts'
import { direct } from '../../parts/review/rights.ts'
import { Who } from '../../parts/who.tsx'
import { words } from '../../words.ts'
import type { Item } from './load.ts'

const MOST = 8

export function Deciders({ base, item }: { base: string; item: Item }) {
  const session = useSession()
  const self = 'self' in session ? session.self : undefined
  const all = signedInAs(useRead<Page<Token>>(pathOf(['tokens'], { limit: 1000 })).data?.data ?? [])
  const needed = item.set ? 'write' : 'admin'
  const tokens = all.filter(({ grants }) => allows(direct(grants), base, '*', needed, 'production'))
  const mine = self && all.find(({ id, name }) => id === self.id || name === self.name)
  const proposer = all.find(({ id }) => id === item.by?.token_id) ?? item.by
  const isListed = tokens.some(({ id }) => id === item.by?.token_id)
  if (tokens.length === 0 && !proposer) return null
  return (
    <Card title={words.review.whoMay}>
      <ul>
        {tokens.slice(0, MOST).map(({ id, name, kind }) => (
          <li key={id} className="card-item decider">
            <Who name={name} kind={kind} />
            <span className="meta">
              {[...(id === mine?.id ? [words.review.you] : []), words.grants.permissions[needed]].join(', ')}
            </span>
          </li>
        ))}
        {proposer && !isListed && (
          <li className="card-item decider">
            <Who name={proposer.name} kind={proposer.kind} />
            <span className="meta">{words.review.mayPropose}</span>
          </li>
        )}
      </ul>
    </Card>
  )
}
