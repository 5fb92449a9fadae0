/** Tokens that are paused, since they wrote far past their usual pace: let one go on, or take back what it wrote. */
import { Link } from 'wouter'
import { to } from '../addresses.ts'
import { useRead, useWrite } from '../api/queries.ts'
import { pathOf } from '../api/send.ts'
import type { Actor, Page } from '../api/shapes.ts'
import { words } from '../words.ts'
import { Failure } from './failure.tsx'
import { useMay } from './grants.ts'
import { Icon } from './icon.tsx'
import { Text } from './plain-text.tsx'
import { shortName } from './previews.ts'
import { say } from './toast.tsx'
import { askUndo } from './undo/asked.ts'
import { Who } from './who.tsx'

type Pause = {
  id: string
  kind: string
  by: Actor
  may_decide: boolean
  pause: {
    token_id: string
    since: string
    writes: number
    usual: number
    wrote: { change_set: string | null }[]
  } | null
}

export function Pauses({ base }: { base: string }) {
  const open = useRead<Page<Pause>>(pathOf([base, 'review-requests'], { state: 'open', limit: 100 }))
  const mayWrite = useMay(base, '*', 'write')
  const write = useWrite<unknown>(base)
  const pauses = (open.data?.data ?? []).flatMap((each) =>
    each.pause ? [{ ...each, pause: each.pause }] : [],
  )
  if (pauses.length === 0) return null
  const resume = ({ id, by }: Pause) =>
    write.mutate({
      method: 'POST',
      path: pathOf([base, 'review-requests', id, 'decision']),
      body: { decision: 'accept' },
      onDone: () => say(<Text>{words.pause.resumed(by.name)}</Text>),
    })
  return (
    <section className="card" aria-label={words.pause.title}>
      {pauses.map((each) => (
        <div key={each.id} className="card-item">
          <p>
            <Who name={each.by.name} kind={each.by.kind} />{' '}
            <span className="amber-word">{words.pause.is}</span>
          </p>
          <p className="meta">{words.pause.why(each.pause.writes, each.pause.usual)}</p>
          <p className="chips">
            <Link className="button" href={to.activity(base, { who: each.pause.token_id })}>
              {words.pause.look}
            </Link>
            {[...new Set(each.pause.wrote.map(({ change_set: set }) => set))].map(
              (set) =>
                set !== null && (
                  <Link key={set} className="button" href={to.review(base, set)}>
                    <Text>{words.pause.proposed(shortName(set))}</Text>
                  </Link>
                ),
            )}
            {each.may_decide && (
              <button type="button" disabled={write.isPending} onClick={() => resume(each)}>
                {words.pause.resume}
              </button>
            )}
            {mayWrite && each.pause.writes > 0 && (
              <button
                type="button"
                onClick={() => askUndo({ base, of: { actor: each.pause.token_id, since: each.pause.since } })}
              >
                <Icon name="undo" /> {words.pause.undo}
              </button>
            )}
          </p>
        </div>
      ))}
      {write.error && <Failure of={write.error} />}
    </section>
  )
}
