/** The box that decides, and who else may. It holds words of the page only. */
import { useState } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { to } from '../../addresses.ts'
import { pathOf, type RecordType, useWrite } from '../../api/queries.ts'
import { Refused, say } from '../../parts/answer.tsx'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { keyOf, misfits, shortName } from '../../parts/proposal.ts'
import { type Sending, useVerdict } from '../../parts/review/on-record.tsx'
import type { Rights, Said, Verdict } from '../../parts/review/opinion.tsx'
import { useKey } from '../../shell/keys.tsx'
import { quoted, words } from '../../words.ts'
import { Approvals, Deciders, Reopen, Secrets } from './approvals.tsx'
import { type Choices, partOf, undecided } from './choices.tsx'
import { type Item, isBlocked, type Migration, type Promotion, type Proposal, type Secret } from './load.ts'

type Props = {
  of: Sending
  item: Item
  plan: Proposal | undefined
  said: readonly Said[]
  rights: Rights
  types: readonly RecordType[]
  migration: Migration
  choices: Choices
  isBusy: boolean
  next: Item | undefined
}
type Done = Partial<Promotion> & { promotion?: Promotion }

export function Decision(props: Props) {
  const { of, item, plan, said, rights, types, migration, choices, isBusy, next } = props
  const { base } = of
  const [note, setNote] = useState('')
  const [secrets, setSecrets] = useState<Secret[]>()
  const write = useWrite<Done>(base)
  const verdict = useVerdict(of)
  const { request, set } = item
  const isClosed = set !== undefined && set.closed_at !== null
  const isPending = write.isPending || verdict.write.isPending
  const isEmpty = plan?.changes.every((edit) => choices.left.has(keyOf(edit))) === true
  const open = plan ? undecided(plan, choices) : 0
  const isReady = request?.from === undefined && request ? true : plan !== undefined && !isBlocked(plan)
  // An acceptance approves what it promotes. Whether parts were approved enough, the server knows.
  const given = (set?.approvals.given ?? 0) + (request ? 1 : 0)
  const isShort =
    given < (set?.approvals.needed ?? 0) && !said.some((each) => !each.is_stale && each.resources !== null)
  const canPromote = isReady && !isEmpty && !isShort && open === 0 && !isBusy && !isPending
  const mayPromote = rights.mayPromote && !isClosed

  const leave = () => navigate(next ? to.review(base, next.id) : to.review(base))
  const done = (decision: 'accept' | 'send_back' | 'decline', promotion: Partial<Promotion>) => {
    const id = decision === 'accept' && item.from !== undefined ? promotion.id : undefined
    const onSelect = () => navigate(`${to.review(base)}?rollback=${id}`)
    const text = words.review.said[decision](set ? undefined : quoted(shortName(item.from ?? item.id)))
    say(text, id ? { label: words.review.rollBack, onSelect } : undefined)
    if (promotion.secrets?.length) setSecrets(promotion.secrets)
    else leave()
  }
  const decide = (decision: 'accept' | 'send_back' | 'decline') => {
    const revision = set && plan?.revision !== undefined && { revision: plan.revision }
    const chosen = {
      ...(Object.keys(migration).length > 0 && { migration }),
      ...partOf(plan, choices),
      ...revision,
    }
    const onDone = (answer: Done) => done(decision, answer.promotion ?? answer)
    if (!request) {
      const path = pathOf([base, 'promote'])
      return write.send('POST', path, { from: item.from, hash: plan?.hash, ...chosen }, onDone)
    }
    const said = note.trim() !== '' && { note: note.trim() }
    const body = { decision, ...said, ...(decision === 'accept' && chosen) }
    write.send('POST', pathOf([base, 'review-requests', request.id, 'decision']), body, onDone)
  }
  /** Of a change-set, all but its promotion is a word on the revision that is shown. */
  const judge = (kind: Verdict) => {
    const part = kind === 'approve' ? partOf(plan, choices).resources : undefined
    verdict.send(kind, note, part, () => {
      setNote('')
      if (kind === 'request_changes' || kind === 'reject') leave()
    })
  }
  useKey('Enter', () => canPromote && mayPromote && decide('accept'), true)
  const isJudged = rights.mayReview && !isClosed
  const text = words.review
  const trouble = plan && isBlocked(plan) ? misfits(plan.breaks, plan.conflicts.length, types) : undefined
  const hasNote = note.trim() !== ''
  const mayRefuse = isJudged || (mayPromote && request !== undefined)
  const acts = [
    [text.verdicts.approve, isJudged, !isEmpty && plan !== undefined, () => judge('approve')],
    [text.sendBack, mayRefuse, hasNote, () => (isJudged ? judge('request_changes') : decide('send_back'))],
    [text.verdicts.comment, rights.maySay && !isClosed, hasNote, () => judge('comment')],
    [text.decline, mayRefuse, true, () => (isJudged ? judge('reject') : decide('decline')), 'quiet'],
  ] as const
  const mayNot = set ? words.review.mayNotRecords : words.review.mayNot(base)
  return (
    <aside className="rail" aria-label={words.review.decision}>
      <Card title={words.review.decision}>
        <div className="card-item gap-3 decision">
          {set && <Approvals set={set} said={said} />}
          {isClosed && <Reopen of={of} set={set} mayOpen={rights.mayOpen} />}
          {!mayPromote && !isJudged && !isClosed && (
            <p className="meta">{rights.isOwn ? words.review.ownProposal : mayNot}</p>
          )}
          {!isClosed && ((mayPromote && request) || rights.maySay) && (
            <textarea
              aria-label={words.review.note}
              placeholder={words.review.note}
              maxLength={2000}
              value={note}
              onChange={({ target }) => setNote(target.value)}
            />
          )}
          {mayPromote && (
            <>
              <Button
                className="primary"
                label={item.from === undefined ? words.review.accept : words.review.promote}
                disabled={!canPromote}
                onClick={() => decide('accept')}
              />
              {isShort && <p className="meta">{words.review.needsMore}</p>}
              {open > 0 && <p className="meta">{words.review.undecided(open)}</p>}
              {choices.left.size > 0 && <p className="meta">{words.review.stays(choices.left.size)}</p>}
              {trouble !== undefined && <p className="meta">{words.review.waits}</p>}
            </>
          )}
          {acts.map(
            ([label, isShown, isReady, act, className]) =>
              isShown && (
                <Button
                  key={label}
                  className={className}
                  label={label}
                  disabled={!isReady || isPending}
                  onClick={act}
                />
              ),
          )}
          <Refused
            of={write.error ?? verdict.write.error}
            onRenew={() => {
              write.reset()
              verdict.write.reset()
              of.onRenew()
            }}
          />
        </div>
      </Card>
      <Deciders base={base} item={item} />
      {item.from !== undefined && !isClosed && (
        <Card title={words.review.afterwards}>
          <p className="card-item meta">{words.review.oneTransaction}</p>
        </Card>
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
