/** Where a change-set stands, whose approvals it has, who may decide, and the way to open again what has ended. */
import { pathOf, useRead, useWrite } from '../../api/queries.ts'
import { useSession } from '../../api/session.ts'
import type { Base, ChangeSet, Page, Token } from '../../api/shapes.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { Failure } from '../../parts/failure.tsx'
import { allows, signedInAs } from '../../parts/grants.ts'
import type { Sending } from '../../parts/review/on-record.tsx'
import type { Said } from '../../parts/review/opinion.tsx'
import { direct } from '../../parts/review/rights.ts'
import { Chip, Text, type Tone } from '../../parts/text.tsx'
import { say } from '../../parts/toast.tsx'
import { Who } from '../../parts/who.tsx'
import { words } from '../../words.ts'
import type { Item } from './load.ts'

export const STATUS_TONES: Readonly<Record<ChangeSet['status'], Tone>> = {
  open: 'quiet',
  submitted: 'info',
  approved: 'added',
  changes_requested: 'changed',
  merged: 'added',
  rejected: 'removed',
  expired: 'quiet',
}

export function Approvals({ set, said }: { set: ChangeSet; said: readonly Said[] }) {
  const { status, approvals } = set
  const by = said.flatMap(({ verdict, is_stale: isStale, resources, by: { name } }) =>
    verdict === 'approve' && !isStale && resources === null ? [name] : [],
  )
  return (
    <>
      <p className="chips">
        <Chip tone={STATUS_TONES[status]}>{words.review.statuses[status]}</Chip>
        {approvals.needed > 0 && (
          <span className="meta">{words.review.approvals(approvals.given, approvals.needed)}</span>
        )}
      </p>
      {by.length > 0 && (
        <p className="meta">
          {words.review.approvedBy} <Text>{[...new Set(by)].join(', ')}</Text>
        </p>
      )}
    </>
  )
}

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
          <li key={id} className="card-item row spread">
            <Who name={name} kind={kind} />
            <span className="meta">
              {[...(id === mine?.id ? [words.review.you] : []), words.grants.permissions[needed]].join(', ')}
            </span>
          </li>
        ))}
        {proposer && !isListed && (
          <li className="card-item row spread">
            <Who {...proposer} />
            <span className="meta">{words.review.mayPropose}</span>
          </li>
        )}
      </ul>
    </Card>
  )
}

type Props = { of: Sending; set: ChangeSet; mayOpen: boolean }

export function Reopen({ of: { base, from }, set, mayOpen }: Props) {
  const write = useWrite<Base>(base)
  const reopen = () => write.send('POST', pathOf([from, 'reopen']), {}, () => say(words.review.reopened))
  return (
    <>
      <p className="meta">{words.review.closed[set.status]}</p>
      {mayOpen && set.status !== 'merged' && (
        <Button label={words.review.reopen} disabled={write.isPending} onClick={reopen} />
      )}
      {write.error && <Failure of={write.error} />}
    </>
  )
}
