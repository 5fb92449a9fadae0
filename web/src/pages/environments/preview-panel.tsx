/** A preview: what differs, and the ways to compare, open, reset and delete it. */
import { useState } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { to } from '../../addresses.ts'
import { pathOf, useWrite } from '../../api/queries.ts'
import { Button } from '../../parts/button.tsx'
import { CardItem } from '../../parts/card.tsx'
import { DeletePlan } from '../../parts/delete-plan.tsx'
import { Failure } from '../../parts/failure.tsx'
import { useMay } from '../../parts/grants.ts'
import { LinkButton } from '../../parts/link.tsx'
import { Facts, Panel } from '../../parts/panel.tsx'
import { kindName, shortName } from '../../parts/proposal.ts'
import { Text } from '../../parts/text.tsx'
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
  const reset = (seed: string) =>
    write.send('POST', pathOf([id, 'seeds', seed, 'reset']), undefined, ({ records }) =>
      say(words.environments.wasReset((records['created'] ?? 0) + (records['updated'] ?? 0))),
    )
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
          <LinkButton label={words.environments.compare} href={to.review(production, id)} />
        )}
        <LinkButton label={words.environments.open} href={to.activity(id)} />
        {mayManage &&
          seeds.map((seed) => (
            <Button
              key={seed.id}
              label={<Text>{words.environments.reset(seed.name ?? seed.id)}</Text>}
              disabled={write.isPending}
              onClick={() => reset(seed.id)}
            />
          ))}
        {mayManage && <Button className="danger" label={words.delete} onClick={() => setRemoving(true)} />}
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
        <CardItem title={words.environments.changes}>
          <ul className="plain-list">
            {edits.slice(0, SHOWN).map(({ kind, id: changed, op }) => (
              <li key={`${kind}/${changed}`}>
                <Text>{changed}</Text> <span className="meta">{words.review.kinds[op](kindName(kind))}</span>
              </li>
            ))}
          </ul>
          {edits.length > SHOWN && <p className="meta">{words.andMore(edits.length - SHOWN)}</p>}
        </CardItem>
      )}
      {isRemoving && (
        <DeletePlan
          of={['bases', id]}
          says={{
            title: words.environments.removeTitle(name),
            act: words.deleteAct(name),
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
