/** Tokens that are paused, by their pace or by a person: let one go on, or take back what it wrote. */
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

export function usePauses(base: string) {
  const open = useRead<Page<ReviewRequest>>(pathOf([base, 'review-requests'], { state: 'open', limit: 100 }))
  return (open.data?.data ?? []).flatMap((each) => (each.pause ? [{ ...each, pause: each.pause }] : []))
}

/** Pauses a token, or lets it go on. */
export function usePausing(base: string) {
  const { send, ...write } = useWrite<ReviewRequest>(base)
  const act = (id: string, verb: 'pause' | 'resume') =>
    send('POST', pathOf([base, 'tokens', id, verb]), {}, ({ by }) =>
      say(<Text>{words.pause.done[verb](by.name)}</Text>),
    )
  return { ...write, act }
}

export function Pauses({ base }: { base: string }) {
  const mayWrite = useMay(base, '*', 'write')
  const write = usePausing(base)
  const pauses = usePauses(base)
  if (pauses.length === 0) return null
  return (
    <section className="card" aria-label={words.pause.title}>
      {pauses.map((each) => (
        <div key={each.id} className="card-item">
          <p>
            <Who {...each.by} /> <span className="changed-word">{words.pause.is}</span>
          </p>
          <p className="meta">
            <Text>{words.pause.why(each.pause, each.note)}</Text>
          </p>
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
              <Button
                label={words.pause.resume}
                disabled={write.isPending}
                onClick={() => write.act(each.pause.token_id, 'resume')}
              />
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
