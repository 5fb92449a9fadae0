import { Button } from '../../parts/button.tsx'
import { Programs, ResourceChange } from './resource-change.tsx'
import './review.css'
import { useCallback, useState } from 'react'
import { Link, useSearch } from 'wouter'
import { navigate } from 'wouter/use-browser-location'
import { type PageProps, parse, to } from '../../addresses.ts'
import { useTypes } from '../../api/queries.ts'
import { Empty, Failure, pendingOf, Skeleton } from '../../parts/answer.tsx'
import { isAbout, isOfRecords, keyOf, shortName } from '../../parts/proposal.ts'
import type { Sending } from '../../parts/review/on-record.tsx'
import { Opinions, useRights, useSaid } from '../../parts/review/opinion.tsx'
import { Text, Time } from '../../parts/text.tsx'
import { Shape } from '../../parts/who.tsx'
import { useKey } from '../../shell/keys.tsx'
import { Bar } from '../../shell/shell.tsx'
import { words } from '../../words.ts'
import { Breaks } from './breaks.tsx'
import { Along, conflictsOf, isChosen, partOf, useChoices } from './choices.tsx'
import { Decision } from './decision.tsx'
import {
  type Conflict,
  type Edit,
  type Item,
  type Migration,
  type MigrationStep,
  placeOf,
  titleOf,
  useItems,
  useMoved,
  usePlan,
  useUntitled,
} from './load.ts'
import { RecordChange } from './record-change.tsx'

export default function ItemPage({ place: { base, id = '' } }: PageProps) {
  const { items, ...reading } = useItems(base)
  const item = items.find((each) => each.id === id || each.from === id)
  const beside = items.filter((each) => item && placeOf(each) === placeOf(item))
  const at = item ? beside.indexOf(item) : -1
  const next = beside.length > 1 ? beside[(at + 1) % beside.length] : undefined
  const former = beside.length > 1 ? beside.at(at - 1) : undefined
  const go = useCallback((target: Item | undefined) => target && navigate(to.review(base, target.id)), [base])
  useKey('j', () => go(next))
  useKey('k', () => go(former))
  return (
    <>
      <Bar
        trail={[
          [words.nav.review, to.review(base)],
          [item?.request?.title ?? (item ? titleOf(item, undefined, []) : shortName(id))],
        ]}
      >
        {beside.length > 1 && (
          <>
            <span className="meta wide-only">{words.review.place(at + 1, beside.length)}</span>
            <Button
              className="quiet"
              icon="down"
              label={words.review.next}
              kbd="j"
              onClick={() => go(next)}
            />
          </>
        )}
      </Bar>
      <main className="page">
        {pendingOf(reading, 8) ??
          (item ? (
            <Review key={item.id} base={base} item={item} next={next} />
          ) : (
            <Empty title={words.review.gone}>
              <Link href={to.review(base)}>{words.review.toList}</Link>
            </Empty>
          ))}
      </main>
    </>
  )
}

function Review({ base, item, next }: { base: string; item: Item; next: Item | undefined }) {
  const types = useTypes(base).data ?? []
  // What was chosen for records that do not fit. It is sent with the decision, and nothing of it is done before.
  const [repairs, setMigration] = useState<Migration>({})
  const choices = useChoices()
  const migration = Object.fromEntries(
    Object.entries({ ...item.request?.migration, ...repairs }).filter(
      ([id]) => !choices.left.has(keyOf({ kind: 'record_type', id })),
    ),
  )
  const isAsked = item.set !== undefined && item.request !== undefined
  const proposal = usePlan(base, item, migration, (all) =>
    isChosen(choices) ? partOf(all, choices, isAsked) : undefined,
  )
  const choose = (type: string, steps: readonly MigrationStep[]) =>
    setMigration(({ [type]: _, ...rest }) => (steps.length === 0 ? rest : { ...rest, [type]: steps }))
  const plan = proposal.data
  const [shown, setShown] = useState(AT_ONCE)
  const conflicts = plan ? conflictsOf(plan) : []
  const { first } = parse(useSearch())
  const edits = sorted(plan?.changes ?? [], conflicts, first)
  const untitled = useUntitled(base, edits.slice(0, shown))
  const said = useSaid(item.from, item.set !== undefined).data?.data ?? []
  const moved = useMoved(item, plan, said)
  const rights = useRights(base, item, plan?.changes)
  const of: Sending = {
    ...{ base, from: item.from ?? '', revision: plan?.revision },
    ...{ mayReview: rights.mayReview, maySay: rights.maySay && item.set?.closed_at === null },
    onRenew: () => void proposal.refetch(),
  }
  const title = titleOf(item, plan, types)
  if (proposal.isLoading) return <Skeleton lines={8} />
  return (
    <>
      <div className="stack gap-1 mb-4 review-head">
        <Text in="h1">{title}</Text>
        <p className="chips">
          <Shape name={item.by?.name ?? '?'} kind={item.by?.kind} />
          <span className="meta">
            {item.by && <Text>{item.by.name}</Text>}{' '}
            {item.from === undefined ? words.review.asksYou : words.review.asks(item)}{' '}
            {item.from !== undefined && !item.set && (
              <>
                <Text in="strong">{shortName(item.from)}</Text> {item.request && words.review.toProduction}
              </>
            )}
            {item.at !== null && (
              <>
                {' · '}
                <Time at={item.at} />
              </>
            )}
          </span>
        </p>
      </div>
      <div className="stack gap-6 columns review-columns">
        <div>
          {item.request && (item.request.note || item.request.title !== title) && (
            <blockquote className="card card-item mb-4">
              {item.request.title !== title && <Text in="strong">{item.request.title}</Text>}
              {item.request.note && <Text>{item.request.note}</Text>}
            </blockquote>
          )}
          {proposal.error && <Failure of={proposal.error} onRetry={() => void proposal.refetch()} />}
          {plan && (
            <>
              <Breaks
                {...{ base, plan, types, migration }}
                onChoose={choose}
                wanted={item.request?.migration}
                choices={of.mayReview ? choices : undefined}
              />
              <Opinions said={said} />
              {edits.slice(0, shown).map((edit) =>
                isOfRecords(edit) ? (
                  <RecordChange
                    key={keyOf(edit)}
                    {...{ base, edit, types, choices }}
                    of={item.set ? of : undefined}
                    stored={untitled.get(edit.id)}
                    conflicts={conflicts.filter((each) => keyOf(each) === keyOf(edit))}
                    said={said.filter(({ resources }) => isAbout(edit, resources))}
                    isMoved={moved.has(keyOf(edit))}
                  />
                ) : (
                  <ResourceChange key={keyOf(edit)} base={base} edit={edit} types={types}>
                    {rights.mayPromote && edits.length > 1 && <Along of={edit} choices={choices} />}
                  </ResourceChange>
                ),
              )}
              {edits.length > shown && (
                <Button
                  label={words.review.showMore(Math.min(AT_ONCE, edits.length - shown))}
                  onClick={() => setShown(shown + AT_ONCE)}
                />
              )}
              {plan.changes.length === 0 && <Empty title={words.review.nothing} />}
              <Programs base={base} plan={plan} />
            </>
          )}
        </div>
        <Decision
          {...{ of, item, plan, said, rights, types, migration, choices }}
          isBusy={proposal.isBusy}
          next={next}
        />
      </div>
    </>
  )
}

/** That many changes of a proposal are shown, and as many more when they are asked for. */
const AT_ONCE = 50

/** First the record that the address names, then what waits for a choice, then what changes, since it is what may break. */
function sorted(edits: readonly Edit[], conflicts: readonly Conflict[], first: string | undefined): Edit[] {
  const waiting = new Set(conflicts.map(keyOf))
  const rank = (edit: Edit) =>
    edit.kind === 'record' && edit.id === first ? -2 : waiting.has(keyOf(edit)) ? -1 : ORDER.indexOf(edit.op)
  return edits.toSorted((one, other) => rank(one) - rank(other))
}
const ORDER = ['delete', 'update', 'create']
