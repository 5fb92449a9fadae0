/** Where a change-set stands, whose approvals it has, who may decide, and the way to open again what has ended. */
import { pathOf, useRead, useSession, useWrite } from '../../api/queries.ts'
import type { Base, ChangeSet, Page, Token } from '../../api/shapes.ts'
import { Failure, say } from '../../parts/answer.tsx'
import { Button } from '../../parts/button.tsx'
import { Card, Rows } from '../../parts/card.tsx'
import { Copied } from '../../parts/copied.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { allows, signedInAs } from '../../parts/grants.ts'
import { kindName } from '../../parts/proposal.ts'
import type { Sending } from '../../parts/review/on-record.tsx'
import { direct, type Said } from '../../parts/review/opinion.tsx'
import { Chip, Meta, Text, type Tone } from '../../parts/text.tsx'
import { Who } from '../../parts/who.tsx'
import { words } from '../../words.ts'
import type { Item, Secret } from './load.ts'

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
  const deciders = tokens.slice(0, MOST).map(({ id, name, kind }) => {
    const may = words.grants.permissions[needed]
    return [
      id,
      <Who key={id} name={name} kind={kind} />,
      id === mine?.id ? `${words.review.you}, ${may}` : may,
    ] as const
  })
  return (
    <Card title={words.review.whoMay}>
      <Rows
        className="card-item row spread"
        of={
          isListed || !proposer
            ? deciders
            : [...deciders, ['', <Who key="" {...proposer} />, words.review.mayPropose]]
        }
      />
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

/** Secrets that a promotion made. They are shown once. */
export const Secrets = ({ of, onClose }: { of: readonly Secret[]; onClose: () => void }) => (
  <Dialog title={words.review.secrets} onClose={onClose}>
    <p>{words.review.secretsHint}</p>
    {of.map(({ kind, id, secret }) => (
      <div key={`${kind}/${id}`}>
        <Meta>{`${kindName(kind)} ${id}`}</Meta>
        <Copied label={`${kindName(kind)} ${id}`} text={secret ?? ''} />
      </div>
    ))}
  </Dialog>
)
