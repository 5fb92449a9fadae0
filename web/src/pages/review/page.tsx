import './review.css'
import { Link } from 'wouter'
import { type PageProps, to } from '../../addresses.ts'
import { useTypes } from '../../api/queries.ts'
import type { RecordType } from '../../api/shapes.ts'
import { Empty, pendingOf } from '../../parts/failure.tsx'
import { Text } from '../../parts/plain-text.tsx'
import { shortName } from '../../parts/previews.ts'
import { Promotions } from '../../parts/promotions.tsx'
import { Time } from '../../parts/time.tsx'
import { Shape } from '../../parts/who.tsx'
import { Bar } from '../../shell/shell.tsx'
import { words } from '../../words.ts'
import { type Item, type Proposal, useItems, usePlans } from './load.ts'
import { misfits, titleOf } from './title.ts'

export default function Page({ place: { base } }: PageProps) {
  const items = useItems(base)
  const proposals = usePlans(base, items.items)
  const types = useTypes(base).data ?? []
  const rows = items.items.map((item, at) => ({ item, proposal: proposals[at]?.data }))
  // A preview that equals production waits for nothing.
  const waiting = rows.filter(({ item, proposal }) => item.request || !proposal || !isSame(proposal))
  return (
    <>
      <Bar trail={[[words.nav.review]]} />
      <main className="page review-list">
        <div className="page-head">
          <div>
            <h1>{words.review.title}</h1>
            <p className="meta">{words.review.about}</p>
          </div>
        </div>
        {pendingOf(items, 3)}
        {!items.isPending && !items.error && waiting.length === 0 && (
          <Empty title={words.review.none}>
            <p className="meta">{words.review.noneHint}</p>
          </Empty>
        )}
        {waiting.length > 0 && (
          <ul className="card" aria-label={words.review.waiting}>
            {waiting.map(({ item, proposal }) => (
              <Waiting key={item.id} base={base} item={item} proposal={proposal} types={types} />
            ))}
          </ul>
        )}
        <Promotions base={base} />
      </main>
    </>
  )
}

const isSame = ({ changes, conflicts, breaks }: Proposal) =>
  changes.length + conflicts.length + breaks.length === 0

type RowProps = { base: string; item: Item; proposal: Proposal | undefined; types: readonly RecordType[] }

function Waiting({ base, item, proposal, types }: RowProps) {
  const trouble = proposal && misfits(proposal, types)
  return (
    <li className="card-item review-row">
      <Shape name={item.by?.name ?? '?'} kind={item.by?.kind} />
      <div>
        <Link href={to.review(base, item.id)}>
          <Text in="strong">{titleOf(item, proposal, types)}</Text>
        </Link>
        <p className="meta">
          {item.by && <Text>{item.by.name}</Text>} {words.review.asks(item.request !== undefined)}{' '}
          <Text>{item.from === undefined ? item.id : shortName(item.from)}</Text>
          {item.at !== null && (
            <>
              {' · '}
              <Time at={item.at} />
            </>
          )}
        </p>
        {item.request && (
          <q>
            <Text>{item.request.title}</Text>
          </q>
        )}
        {proposal && (
          <p className="meta">
            {words.review.changes(proposal.changes.length)}
            {trouble !== undefined && <span className="amber-word"> · {<Text>{trouble}</Text>}</span>}
          </p>
        )}
      </div>
      <Link className="button" href={to.review(base, item.id)}>
        {words.review.open}
      </Link>
    </li>
  )
}
