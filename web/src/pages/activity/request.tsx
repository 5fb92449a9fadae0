/** All changes of one request, and what it set off. */
import { type PageProps, to } from '../../addresses.ts'
import { type Group, type Page, pathOf, useRead, useTypes } from '../../api/queries.ts'
import { askUndo, Empty, pendingOf } from '../../parts/answer.tsx'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { useMay } from '../../parts/grants.ts'
import { Text, Time, Tool, visible } from '../../parts/text.tsx'
import { Steps, useTrace } from '../../parts/trace.tsx'
import { ProposedBy, Who } from '../../parts/who.tsx'
import { Bar } from '../../shell/shell.tsx'
import { words } from '../../words.ts'
import { foldedOf } from './fold.ts'
import { useChangesOf } from './load.ts'
import { Sentence, Subjects } from './sentence.tsx'
import './activity.css'

const MOST = 500

export default function Request({ place: { base, request = '' } }: PageProps) {
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
      <Bar trail={[[words.nav.activity, to.activity(base)], [words.request(visible(request.slice(0, 8)))]]} />
      <main className="page">
        {pendingOf(changes, 8)}
        {groups.data && !group && <Empty title={words.activity.noSuchRequest} />}
        {group && row && (
          <div className="chips spread gap-3 mb-4 page-head">
            <div>
              <h1 className="chips medium">
                <Who {...group.actor} /> <Sentence base={base} row={row} types={types} />
              </h1>
              <p className="note">
                {group.call?.tool && <Tool name={group.call.tool} />}{' '}
                {row.proposed.length > 0 && (
                  <>
                    <ProposedBy by={row.proposed} /> ·{' '}
                  </>
                )}
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
            <Button
              icon="undo"
              label={group.undone_by === null ? words.undo.verb : words.record.undoUndo}
              disabled={!mayUndo}
              onClick={() => askUndo({ base, of: { request_id: group.undone_by ?? request } })}
            />
          </div>
        )}
        <Subjects base={base} changes={changes.data?.data ?? []} />
        {first && <Effects base={base} seq={first.seq} />}
      </main>
    </>
  )
}

/** What came of the first change of the request, indented by how far it is. */
function Effects({ base, seq }: { base: string; seq: number }) {
  const { data } = useTrace(base, seq)
  if (!data || data.effects.length === 0) return null
  return (
    <Card title={words.activity.setOff}>
      <div className="card-item">
        <Steps base={base} steps={data.effects} />
      </div>
    </Card>
  )
}
