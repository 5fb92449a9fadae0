/** A preview: what differs, and the ways to compare, open, reset and delete it. */
import { useState } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { to } from '../../addresses.ts'
import { pathOf, useTypes, useWrite } from '../../api/queries.ts'
import { Failure, say } from '../../parts/answer.tsx'
import { Button } from '../../parts/button.tsx'
import { CardItem, Facts, Panel, Rows } from '../../parts/card.tsx'
import { DeletePlan } from '../../parts/dialog.tsx'
import { useMay } from '../../parts/grants.ts'
import { LinkButton } from '../../parts/link.tsx'
import { kindName, misfits, shortName } from '../../parts/proposal.ts'
import { Text, Time } from '../../parts/text.tsx'
import { words } from '../../words.ts'
import { type Preview, useProposal, useSeeds } from './load.ts'

const SHOWN = 12

export function PreviewPanel({ base, production, of }: { base: string; production: string; of: Preview }) {
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
        of={{
          [words.environments.heads.name]: <code>{id}</code>,
          '': description !== null && <Text>{description}</Text>,
          [words.environments.heads.by]: set && <Text>{set.created_by_name}</Text>,
          [words.agents.made]: <Time at={is.created_at} />,
          [words.environments.heads.state]: <State of={{ is, proposal }} />,
        }}
      />
      {edits.length > 0 && (
        <CardItem title={words.environments.changes}>
          <Rows
            most={SHOWN}
            of={edits.map(({ kind, id: changed, op }) => {
              const key = `${kind}/${changed}`
              return [key, <Text key={key}>{changed}</Text>, words.review.kinds[op](kindName(kind))]
            })}
          />
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

/** What a preview differs in, and whether production can take it. */
export function State({ of: { is, proposal } }: { of: Preview }) {
  const types = useTypes(is.production_base ?? is.id).data ?? []
  const { change_set: set } = is
  if (set && set.closed_at !== null) return words.review.statuses[set.status]
  const count = set ? set.counts.create + set.counts.update + set.counts.delete : proposal?.changes.length
  if (count === undefined) return null
  const trouble = proposal && misfits(proposal.breaks, proposal.conflicts.length, types)
  return (
    <>
      {count === 0 ? words.environments.same : words.review.changes(count)}
      {trouble !== undefined && <span className="changed-word"> · {trouble}</span>}
    </>
  )
}
