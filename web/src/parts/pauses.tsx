/** Tokens that are paused, since they wrote far past their usual pace: let one go on, or take back what it wrote. */
import { to } from '../addresses.ts'
import { type Page, pathOf, type ReviewRequest, useRead, useWrite } from '../api/queries.ts'
import { words } from '../words.ts'
import { askUndo, Failure, say } from './answer.tsx'
import { Button } from './button.tsx'
import { useMay } from './grants.ts'
import { LinkButton } from './link.tsx'
import { shortName } from './proposal.ts'
import { Text } from './text.tsx'
import { Who } from './who.tsx'

export function Pauses({ base }: { base: string }) {
  const open = useRead<Page<ReviewRequest>>(pathOf([base, 'review-requests'], { state: 'open', limit: 100 }))
  const mayWrite = useMay(base, '*', 'write')
  const write = useWrite<unknown>(base)
  const pauses = (open.data?.data ?? []).flatMap((each) =>
    each.pause ? [{ ...each, pause: each.pause }] : [],
  )
  if (pauses.length === 0) return null
  const resume = ({ id, by }: ReviewRequest) =>
    write.send('POST', pathOf([base, 'review-requests', id, 'decision']), { decision: 'accept' }, () =>
      say(<Text>{words.pause.resumed(by.name)}</Text>),
    )
  return (
    <section className="card" aria-label={words.pause.title}>
      {pauses.map((each) => (
        <div key={each.id} className="card-item">
          <p>
            <Who {...each.by} /> <span className="changed-word">{words.pause.is}</span>
          </p>
          <p className="meta">{words.pause.why(each.pause.writes, each.pause.usual)}</p>
          <p className="chips">
            <LinkButton
              label={words.agents.whatItDid}
              href={to.activity(base, { who: each.pause.token_id })}
            />
            {[...new Set(each.pause.wrote.map(({ change_set: set }) => set))].map(
              (set) =>
                set !== null && (
                  <LinkButton
                    key={set}
                    label={<Text>{words.pause.proposed(shortName(set))}</Text>}
                    href={to.review(base, set)}
                  />
                ),
            )}
            {each.may_decide && (
              <Button label={words.pause.resume} disabled={write.isPending} onClick={() => resume(each)} />
            )}
            {mayWrite && each.pause.writes > 0 && (
              <Button
                icon="undo"
                label={words.pause.undo}
                onClick={() => askUndo({ base, of: { actor: each.pause.token_id, since: each.pause.since } })}
              />
            )}
          </p>
        </div>
      ))}
      {write.error && <Failure of={write.error} />}
    </section>
  )
}
