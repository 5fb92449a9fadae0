/** What was promoted lately, and the way back. */
import { useAsk, useRead, useWrite } from '../api/queries.ts'
import { pathOf } from '../api/send.ts'
import type { Page, Promotion } from '../api/shapes.ts'
import { words } from '../words.ts'
import { Dialog } from './dialog.tsx'
import { Failure, pendingOf } from './failure.tsx'
import { useMay } from './grants.ts'
import { Icon } from './icon.tsx'
import { Text } from './plain-text.tsx'
import { kindName, shortName } from './previews.ts'
import { useParameters } from './search.ts'
import { Time } from './time.tsx'
import { say } from './toast.tsx'

export function Promotions({ base }: { base: string }) {
  const [search, change] = useParameters()
  const latest = useRead<Page<Promotion>>(pathOf([base, 'promotions'], { limit: 10 }))
  const all = (latest.data?.data ?? []).filter(({ id }) => id !== null)
  const mayRollBack = useMay(base, '*', 'admin')
  const undoing = all.find(({ id }) => id === search['rollback'])
  if (all.length === 0) return null
  return (
    <section className="card promotions" aria-label={words.review.lately}>
      <header>
        <h2>{words.review.lately}</h2>
      </header>
      <ul>
        {all.map(({ id, kind, from, status, changes, created_by_name: by, created_at: at }) => (
          <li key={id} className="card-item decider">
            <span>
              <Text>{by ?? words.nobody}</Text> {words.review.did[kind]}{' '}
              <Text in="strong">{shortName(from)}</Text>{' '}
              <span className="meta">
                {words.review.changes(changes.length)} · <Time at={at} />
                {status === 'rolled_back' && ` · ${words.review.rolledBack}`}
              </span>
            </span>
            {mayRollBack && kind === 'promotion' && status === 'applied' && (
              <button type="button" className="quiet" onClick={() => change({ rollback: id ?? undefined })}>
                <Icon name="undo" /> {words.review.rollBack}
              </button>
            )}
          </li>
        ))}
      </ul>
      {undoing && <RollBack base={base} of={undoing} onClose={() => change({ rollback: undefined }, true)} />}
    </section>
  )
}

function RollBack({ base, of, onClose }: { base: string; of: Promotion; onClose: () => void }) {
  const body = { promotion_id: of.id }
  const path = [base, 'promote', 'rollback']
  const plan = useAsk<Promotion>(pathOf(path, { dry_run: true }), body)
  const write = useWrite<Promotion>(base)
  const act = () =>
    write.mutate({
      method: 'POST',
      path: pathOf(path),
      body,
      onDone: () => {
        say(words.review.said.back(shortName(of.from)))
        onClose()
      },
    })
  return (
    <Dialog
      title={words.review.rollBackTitle(shortName(of.from))}
      onClose={onClose}
      foot={<span className="note">{words.review.rollBackNote}</span>}
      act={{
        label: words.review.rollBackAct(plan.data?.changes.length ?? of.changes.length),
        isReady: plan.data !== undefined && !write.isPending,
        onSelect: act,
      }}
    >
      {pendingOf(plan, 3)}
      <ul className="plain-list">
        {plan.data?.changes.map(({ kind, id, op }) => (
          <li key={`${kind}/${id}`}>
            {words.review.back[op]} {kindName(kind)} <Text in="strong">{id}</Text>
          </li>
        ))}
      </ul>
      {write.error && <Failure of={write.error} />}
    </Dialog>
  )
}
