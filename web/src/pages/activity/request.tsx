/** All changes of one request, and what it set off. */
import { useState } from 'react'
import { Link } from 'wouter'
import { to } from '../../addresses.ts'
import { useRead, useTypes } from '../../api/queries.ts'
import { pathOf } from '../../api/send.ts'
import type { Group, Page } from '../../api/shapes.ts'
import { ChangesInLine, changesOf } from '../../parts/diff.tsx'
import { Empty, pendingOf } from '../../parts/failure.tsx'
import { useMay } from '../../parts/grants.ts'
import { Icon } from '../../parts/icon.tsx'
import { Text } from '../../parts/plain-text.tsx'
import { visible } from '../../parts/text.ts'
import { Time } from '../../parts/time.tsx'
import { UndoDialog } from '../../parts/undo/dialog.tsx'
import { Who } from '../../parts/who.tsx'
import { Bar } from '../../shell/shell.tsx'
import { words } from '../../words.ts'
import { foldedOf } from './fold.ts'
import { useChangesOf } from './load.ts'
import { Sentence } from './sentence.tsx'
import { Subject } from './subject.tsx'
import './activity.css'

const MOST = 500
type Step = { kind: string; id: string; of: string | null; depth: number; status: string | null; at?: string }
type Trace = { causes: Step[]; effects: Step[]; truncated: boolean }

export default function Request({
  place: { base, request = '' },
}: {
  place: { base: string; request?: string }
}) {
  const [isUndoing, setUndoing] = useState(false)
  const mayUndo = useMay(base, '*', 'write')
  const types = useTypes(base).data ?? []
  const groups = useRead<Page<Group>>(
    pathOf([base, 'changes'], { group: 'request', request_id: request, include: 'fields,titles' }),
  )
  const changes = useChangesOf(base, request, MOST)
  const [group] = groups.data?.data ?? []
  const row = group && foldedOf(groups.data?.data ?? [])
  const first = changes.data?.data.at(-1)
  return (
    <>
      <Bar
        trail={
          <>
            <Link href={to.activity(base)}>{words.nav.activity}</Link> /{' '}
            <code>{words.request(visible(request.slice(0, 8)))}</code>
          </>
        }
      />
      <main className="page">
        {pendingOf(changes, 8)}
        {groups.data && !group && <Empty title={words.activity.noSuchRequest} />}
        {group && row && (
          <div className="page-head">
            <div>
              <h1 className="request-title">
                <Who name={group.actor.name} kind={group.actor.kind} />{' '}
                <Sentence base={base} row={row} types={types} />
              </h1>
              <p className="note">
                {group.call?.tool && (
                  <code className="tool">
                    <Text>{group.call.tool}</Text>
                  </code>
                )}{' '}
                <Time at={group.last_at} />
                {group.call?.client && (
                  <>
                    {' · '}
                    <Text>{group.call.client}</Text>
                  </>
                )}{' '}
                · <code>{visible(request)}</code>
              </p>
            </div>
            <button type="button" disabled={!mayUndo} onClick={() => setUndoing(true)}>
              <Icon name="undo" /> {group.undone_by === null ? words.undo.verb : words.undo.theUndo}
            </button>
          </div>
        )}
        <ul className="request-changes">
          {changes.data?.data.map((change) => (
            <li key={change.seq}>
              <Subject base={base} change={change} />
              <span>
                {change.operation !== 'update' && (
                  <span className="note">{words.verbs[change.operation]} </span>
                )}
                <ChangesInLine changes={changesOf(change.diff)} />
              </span>
            </li>
          ))}
        </ul>
        {first && <Effects base={base} seq={first.seq} />}
      </main>
      {isUndoing && group && (
        <UndoDialog
          base={base}
          of={{ request_id: group.undone_by ?? request }}
          onClose={() => setUndoing(false)}
        />
      )}
    </>
  )
}

/** What came of the first change of the request, indented by how far it is. */
function Effects({ base, seq }: { base: string; seq: number }) {
  const { data } = useRead<Trace>(pathOf([base, 'changes', String(seq), 'trace']))
  if (!data || data.effects.length === 0) return null
  return (
    <section className="card">
      <header>
        <h2>{words.activity.setOff}</h2>
      </header>
      <ul className="trace">
        {data.effects.map((step) => (
          <li key={`${step.kind} ${step.id}`} data-depth={Math.min(step.depth, 5)}>
            <span>{words.activity.steps[step.kind as keyof typeof words.activity.steps] ?? step.kind}</span>
            {step.of !== null && <Text>{step.of}</Text>}
            {step.status !== null && <span className="note">{step.status}</span>}
          </li>
        ))}
      </ul>
    </section>
  )
}
