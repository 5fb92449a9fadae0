/** A preview: what differs, and the ways to compare, open, reset and delete it. */
import { useState } from 'react'
import { Link } from 'wouter'
import { navigate } from 'wouter/use-browser-location'
import { to } from '../../addresses.ts'
import { useWrite } from '../../api/queries.ts'
import { pathOf } from '../../api/send.ts'
import { DeletePlan } from '../../parts/delete-plan.tsx'
import { Failure } from '../../parts/failure.tsx'
import { useMay } from '../../parts/grants.ts'
import { Facts, Panel } from '../../parts/panel.tsx'
import { Text } from '../../parts/plain-text.tsx'
import { kindName, shortName } from '../../parts/previews.ts'
import { Time } from '../../parts/time.tsx'
import { say } from '../../parts/toast.tsx'
import { words } from '../../words.ts'
import { type Preview, useProposal, useSeeds } from './load.ts'
import { State } from './state.tsx'

type Props = { base: string; production: string; of: Preview }
const SHOWN = 12

export function PreviewPanel({ base, production, of }: Props) {
  const { is } = of
  const { id, change_set: set, description } = is
  const [isRemoving, setRemoving] = useState(false)
  const proposal = useProposal(production, of)
  const seeds = useSeeds(is).data?.data ?? []
  const mayManage = useMay(production, '*', 'manage', 'preview')
  const write = useWrite<{ records: Record<string, number> }>(id)
  const edits = proposal?.changes ?? []
  const name = set?.title ?? shortName(id)
  return (
    <Panel
      back={to.environments(base)}
      title={<Text>{name}</Text>}
      note={words.environments.kinds[set ? 'set' : 'preview']}
    >
      <p className="card-item chips">
        {edits.length > 0 && (
          <Link className="button" href={to.review(production, id)}>
            {words.environments.compare}
          </Link>
        )}
        <Link className="button" href={to.activity(id)}>
          {words.environments.open}
        </Link>
        {mayManage &&
          seeds.map((seed) => (
            <button
              key={seed.id}
              type="button"
              disabled={write.isPending}
              onClick={() =>
                write.mutate({
                  method: 'POST',
                  path: pathOf([id, 'seeds', seed.id, 'reset']),
                  onDone: ({ records: { created = 0, updated = 0 } }) =>
                    say(words.environments.wasReset(created + updated)),
                })
              }
            >
              <Text>{words.environments.reset(seed.name ?? seed.id)}</Text>
            </button>
          ))}
        {mayManage && (
          <button type="button" className="danger" onClick={() => setRemoving(true)}>
            {words.environments.remove}
          </button>
        )}
      </p>
      {write.error && <Failure of={write.error} />}
      <Facts
        of={[
          [words.environments.heads.name, <code key="id">{id}</code>],
          description !== null && ['', <Text key="about">{description}</Text>],
          !!set && [words.environments.heads.by, <Text key="by">{set.created_by_name}</Text>],
          [words.agents.made, <Time key="made" at={is.created_at} />],
          [words.environments.heads.state, <State key="state" of={{ is, proposal }} />],
        ]}
      />
      {edits.length > 0 && (
        <div className="card-item">
          <h3>{words.environments.changes}</h3>
          <ul className="plain-list">
            {edits.slice(0, SHOWN).map(({ kind, id: changed, op }) => (
              <li key={`${kind}/${changed}`}>
                <Text>{changed}</Text> <span className="meta">{words.review.kinds[op](kindName(kind))}</span>
              </li>
            ))}
          </ul>
          {edits.length > SHOWN && <p className="meta">{words.andMore(edits.length - SHOWN)}</p>}
        </div>
      )}
      {isRemoving && (
        <DeletePlan
          of={['bases', id]}
          says={{
            title: words.environments.removeTitle(name),
            act: words.environments.removeAct(name),
            done: words.environments.removed(name),
            about: words.environments.removeAbout,
          }}
          onDone={() => navigate(base === id ? to.home() : to.environments(base))}
          onClose={() => setRemoving(false)}
        />
      )}
    </Panel>
  )
}
