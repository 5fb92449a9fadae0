import { useState } from 'react'
import { Link } from 'wouter'
import { type PageProps, to } from '../../addresses.ts'
import { pathOf, type RecordType, usePages, useTypes } from '../../api/queries.ts'
import { Empty, pendingOf } from '../../parts/answer.tsx'
import { Button, More } from '../../parts/button.tsx'
import { ListPage } from '../../parts/card.tsx'
import { Segments } from '../../parts/fields.tsx'
import { LinkButton, useParameters } from '../../parts/link.tsx'
import { Pauses } from '../../parts/pauses.tsx'
import { Promotions } from '../../parts/promotions.tsx'
import { misfits, shortName, sizeOf } from '../../parts/proposal.ts'
import { Chip, Text, Time } from '../../parts/text.tsx'
import { Shape, Who } from '../../parts/who.tsx'
import { words } from '../../words.ts'
import { STATUS_TONES } from './approvals.tsx'
import { type Item, type Proposal, placeOf, type Request, titleOf, useItems, usePlans } from './load.ts'
import './review.css'

export default function Page({ place: { base } }: PageProps) {
  const [search, change] = useParameters()
  const place = PLACES.find((each) => each === search['state']) ?? 'waiting'
  const items = useItems(base)
  const [shown, setShown] = useState(AT_ONCE)
  const hasPauses = place === 'waiting' && items.hasPauses
  const here = items.items.filter((item) => placeOf(item) === place && !(item.refused && place === 'ended'))
  const proposals = usePlans(base, here.slice(0, shown))
  const types = useTypes(base).data ?? []
  const rows = here.slice(0, shown).map((item, at) => ({ item, proposal: proposals[at]?.data }))
  // A preview that equals production waits for nothing.
  const waiting = rows.filter(({ item, proposal }) => item.request || !proposal || !isSame(proposal))
  return (
    <ListPage
      nav={words.nav.review}
      title={words.nav.review}
      about={words.review.about}
      tools={
        <Segments
          label={words.review.filter}
          options={words.review.places}
          value={place}
          onChange={(state) => change({ state: state === 'waiting' ? undefined : state })}
        />
      }
    >
      {place === 'waiting' && <Pauses base={base} />}
      {pendingOf(items, 3)}
      {!items.isPending && !items.error && waiting.length === 0 && place !== 'ended' && !hasPauses && (
        <Empty
          title={place === 'back' ? words.review.noneBack : words.review.none}
          hint={place === 'waiting' && words.review.noneHint}
        />
      )}
      {waiting.length > 0 && (
        <ul className="card" aria-label={words.review.places[place]}>
          {waiting.map(({ item, proposal }) => (
            <Waiting key={item.id} base={base} item={item} proposal={proposal} types={types} />
          ))}
        </ul>
      )}
      {here.length > shown && <Button label={words.review.more} onClick={() => setShown(shown + AT_ONCE)} />}
      {place === 'ended' && <Decided base={base} />}
      <Promotions base={base} />
    </ListPage>
  )
}

const PLACES = ['waiting', 'back', 'ended'] as const
const AT_ONCE = 50

const isSame = ({ changes, conflicts, breaks }: Proposal) =>
  changes.length + conflicts.length + breaks.length === 0

type RowProps = { base: string; item: Item; proposal: Proposal | undefined; types: readonly RecordType[] }

function Waiting({ base, item, proposal, types }: RowProps) {
  const trouble = proposal && misfits(proposal.breaks, proposal.conflicts.length, types)
  return (
    <li className="card-item gap-3 review-row">
      <Shape name={item.by?.name ?? '?'} kind={item.by?.kind} />
      <div>
        <Link className="ink" href={to.review(base, item.id)}>
          <Text in="strong">{titleOf(item, proposal, types)}</Text>
        </Link>
        <p className="meta">
          {item.by && <Text>{item.by.name}</Text>} {words.review.asks(item)}{' '}
          {!item.set && <Text>{item.from === undefined ? item.id : shortName(item.from)}</Text>}
          {item.at !== null && (
            <>
              {' · '}
              <Time at={item.at} />
            </>
          )}
        </p>
        {item.request && item.request.title !== titleOf(item, proposal, types) && (
          <Text in="q">{item.request.title}</Text>
        )}
        {item.refused && <Verdict of={item.refused} />}
        {(proposal ?? item.set) && (
          <p className="meta">
            {item.set && item.set.status !== 'submitted' && (
              <Chip tone={STATUS_TONES[item.set.status]}>{words.review.statuses[item.set.status]}</Chip>
            )}{' '}
            {words.review.changes(proposal?.changes.length ?? (item.set ? sizeOf(item.set) : 0))}
            {item.set &&
              item.set.approvals.needed > 0 &&
              ` · ${words.review.approvals(item.set.approvals.given, item.set.approvals.needed)}`}
            {trouble !== undefined && <span className="changed-word"> · {<Text>{trouble}</Text>}</span>}
          </p>
        )}
      </div>
      <LinkButton label={words.nav.review} href={to.review(base, item.id)} />
    </li>
  )
}

/** What people decided, newest first. */
function Decided({ base }: { base: string }) {
  const decided = usePages<Request>(pathOf([base, 'review-requests'], { state: 'decided', limit: 50 }))
  const all = decided.data ?? []
  return (
    <>
      {pendingOf(decided, 3)}
      {decided.isSuccess && all.length === 0 && <Empty title={words.review.noneEnded} />}
      {all.length > 0 && (
        <ul className="card" aria-label={words.review.places.ended}>
          {all.map((request) => (
            <li key={request.id} className="card-item">
              <p>
                <Text in="strong">{request.title}</Text>{' '}
                <Text className="meta">{shortName(request.from ?? request.id)}</Text>
              </p>
              <Verdict of={request} />
            </li>
          ))}
        </ul>
      )}
      <More of={decided} label={words.review.more} />
    </>
  )
}

/** Who decided what, when, and the word to the agent. */
const Verdict = ({ of: { decision } }: { of: Request }) =>
  decision && (
    <>
      <p className="chips meta">
        <Who {...decision.by} />
        {words.review.decisions[decision.decision]} · <Time at={decision.at} />
      </p>
      {decision.note !== null && <Text in="q">{decision.note}</Text>}
    </>
  )
