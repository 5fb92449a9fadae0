/** The box that decides, and who else may. It holds words of the page only. */
import { useEffect, useId, useState } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { to } from '../../addresses.ts'
import { useWrite } from '../../api/queries.ts'
import { pathOf } from '../../api/send.ts'
import { useSession } from '../../api/session.ts'
import type { RecordType } from '../../api/shapes.ts'
import { Failure } from '../../parts/failure.tsx'
import { useMay } from '../../parts/grants.ts'
import { shortName } from '../../parts/previews.ts'
import { say } from '../../parts/toast.tsx'
import { words } from '../../words.ts'
import { type Choices, keyOf, partOf, undecided } from './choices.ts'
import { Deciders } from './deciders.tsx'
import { type Item, isBlocked, type Migration, type Promotion, type Proposal, type Secret } from './load.ts'
import { Secrets } from './secrets.tsx'
import { misfits } from './title.ts'

type Props = {
  base: string
  item: Item
  plan: Proposal | undefined
  types: readonly RecordType[]
  migration: Migration
  choices: Choices
  isBusy: boolean
  next: Item | undefined
}
type Choice = 'accept' | 'send_back' | 'decline'

export function Decision({ base, item, plan, types, migration, choices, isBusy, next }: Props) {
  const [note, setNote] = useState('')
  const [secrets, setSecrets] = useState<Secret[]>()
  const write = useWrite<Partial<Promotion> & { promotion?: Promotion }>(base)
  const session = useSession()
  const self = 'self' in session ? session.self : undefined
  const name = useId()
  const isAdmin = useMay(base, '*', 'admin')
  const { request } = item
  const isOwn = request !== undefined && self !== undefined && item.by?.name === self.name
  const mayDecide = request?.may_decide ?? isAdmin
  const left = plan?.changes.filter((edit) => !choices.left.has(keyOf(edit))) ?? []
  const isEmpty = plan !== undefined && left.length === 0
  const open = plan ? undecided(plan, choices) : 0
  const isReady = request?.from === undefined && request ? true : plan !== undefined && !isBlocked(plan)
  const canPromote = isReady && !isEmpty && open === 0 && !isBusy && !write.isPending

  const leave = () => navigate(next ? to.review(base, next.id) : to.review(base))
  const decide = (decision: Choice) => {
    const repairs = Object.keys(migration).length > 0 && { migration }
    const done = (answer: Partial<Promotion> & { promotion?: Promotion }) => {
      const promotion = answer.promotion ?? answer
      const id = decision === 'accept' && item.from !== undefined ? promotion.id : undefined
      say(
        words.review.said[decision](shortName(item.from ?? item.id)),
        id
          ? { label: words.review.rollBack, onSelect: () => navigate(`${to.review(base)}?rollback=${id}`) }
          : undefined,
      )
      if (promotion.secrets?.length) setSecrets(promotion.secrets)
      else leave()
    }
    if (!request)
      return write.mutate({
        ...{ method: 'POST', path: pathOf([base, 'promote']), onDone: done },
        body: { from: item.from, ...repairs, ...partOf(plan, choices) },
      })
    write.mutate({
      ...{ method: 'POST', path: pathOf([base, 'review-requests', request.id, 'decision']), onDone: done },
      body: {
        decision,
        ...(note.trim() !== '' && { note: note.trim() }),
        ...(decision === 'accept' && { ...repairs, ...partOf(plan, choices) }),
      },
    })
  }
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
      if (canPromote && mayDecide && !isOwn && !document.querySelector('dialog[open]')) decide('accept')
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  })
  const trouble = plan && isBlocked(plan) ? misfits(plan, types) : undefined
  return (
    <aside className="rail" aria-label={words.review.decision}>
      <section className="card">
        <header>
          <h2>{words.review.decision}</h2>
        </header>
        <div className="card-item decision">
          {isOwn || !mayDecide ? (
            <p className="meta">{isOwn ? words.review.ownProposal : words.review.mayNot(base)}</p>
          ) : (
            <>
              {request && (
                <>
                  <label htmlFor={name} className="hidden">
                    {words.review.note}
                  </label>
                  <textarea
                    id={name}
                    placeholder={words.review.note}
                    maxLength={2000}
                    value={note}
                    onChange={({ target }) => setNote(target.value)}
                  />
                </>
              )}
              <button
                type="button"
                className="primary"
                disabled={!canPromote}
                onClick={() => decide('accept')}
              >
                {item.from === undefined ? words.review.accept : words.review.promote}
              </button>
              {open > 0 && <p className="meta">{words.review.undecided(open)}</p>}
              {choices.left.size > 0 && <p className="meta">{words.review.stays(choices.left.size)}</p>}
              {trouble !== undefined && <p className="meta">{words.review.waits}</p>}
              {request && (
                <>
                  <button
                    type="button"
                    disabled={note.trim() === '' || write.isPending}
                    onClick={() => decide('send_back')}
                  >
                    {words.review.sendBack}
                  </button>
                  <button
                    type="button"
                    className="quiet"
                    disabled={write.isPending}
                    onClick={() => decide('decline')}
                  >
                    {words.review.decline}
                  </button>
                </>
              )}
              {write.error && <Failure of={write.error} />}
            </>
          )}
        </div>
      </section>
      <Deciders base={base} item={item} />
      {item.from !== undefined && (
        <section className="card">
          <header>
            <h2>{words.review.afterwards}</h2>
          </header>
          <p className="card-item meta">{words.review.oneTransaction}</p>
        </section>
      )}
      {secrets && (
        <Secrets
          of={secrets}
          onClose={() => {
            setSecrets(undefined)
            leave()
          }}
        />
      )}
    </aside>
  )
}
