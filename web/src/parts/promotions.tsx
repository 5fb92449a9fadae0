/** What was promoted lately, and the way back: of all, or of some. */
import { useState } from 'react'
import { type Edit, type Page, type Promotion, pathOf, useAsk, useRead, useWrite } from '../api/queries.ts'
import { words } from '../words.ts'
import { Empty, pendingOf, say } from './answer.tsx'
import { Button } from './button.tsx'
import { Card } from './card.tsx'
import { Dialog } from './dialog.tsx'
import { useMay } from './grants.ts'
import { useParameters } from './link.tsx'
import { isOfRecords, kindName, named, shortName } from './proposal.ts'
import { Text, Time } from './text.tsx'

export function Promotions({ base }: { base: string }) {
  const [search, change] = useParameters()
  const latest = useRead<Page<Promotion>>(pathOf([base, 'promotions'], { limit: 10 }))
  const all = (latest.data?.data ?? []).filter(({ id }) => id !== null)
  const isAdmin = useMay(base, '*', 'admin')
  const mayWrite = useMay(base, '*', 'write')
  const undoing = all.find(({ id }) => id === search['rollback'])
  if (all.length === 0) return null
  return (
    <Card className="later" title={words.review.lately}>
      <ul>
        {all.map(({ id, kind, from, status, changes, created_by_name: by, created_at: at }) => (
          <li key={id} className="card-item row spread">
            <span>
              <Text>{by ?? words.nobody}</Text> {words.review.did[kind]}{' '}
              <Text in="strong">{shortName(from)}</Text>{' '}
              <span className="meta">
                {words.review.changes(changes.length)} · <Time at={at} />
                {status === 'rolled_back' && ` · ${words.review.rolledBack}`}
              </span>
            </span>
            {(isAdmin || (mayWrite && changes.every(isOfRecords))) &&
              kind === 'promotion' &&
              status === 'applied' && (
                <Button
                  className="quiet"
                  icon="undo"
                  label={words.review.rollBack}
                  onClick={() => change({ rollback: id ?? undefined })}
                />
              )}
          </li>
        ))}
      </ul>
      {undoing && <RollBack base={base} of={undoing} onClose={() => change({ rollback: undefined }, true)} />}
    </Card>
  )
}

/** Takes back what a promotion did to one record. */
export function RollBackOne({ id, ...props }: Omit<RollBackProps, 'of'> & { id: string }) {
  const { data } = useRead<Promotion>(pathOf([props.base, 'promotions', id]))
  return data && <RollBack {...props} of={data} />
}

const INVERSE = { create: 'delete', update: 'update', delete: 'create' } as const

type RollBackProps = { base: string; of: Promotion; only?: string; onClose: () => void }

/** `only` is the record that it is about, as `ticket/T-1`. */
function RollBack({ base, of, only, onClose }: RollBackProps) {
  const left = of.changes.filter((edit) => !edit.rolled_back && (only === undefined || edit.id === only))
  const [kept, setKept] = useState<ReadonlySet<Edit>>(new Set())
  const chosen = left.filter((edit) => !kept.has(edit))
  const keep = (edit: Edit) => setKept(kept.symmetricDifference(new Set([edit])))
  const body = {
    promotion_id: of.id,
    ...((kept.size > 0 || only !== undefined) && { resources: chosen.map(named) }),
  }
  const path = [base, 'promote', 'rollback']
  const plan = useAsk<Promotion>(pathOf(path, { dry_run: true }), body, {
    enabled: chosen.length > 0,
    keep: true,
  })
  const write = useWrite<Promotion>(base)
  const act = () =>
    write.send('POST', pathOf(path), body, () => {
      say(words.review.said.back(shortName(of.from)))
      onClose()
    })
  return (
    <Dialog
      title={words.review.rollBackTitle(shortName(of.from))}
      onClose={onClose}
      foot={<span className="note">{words.review.rollBackNote}</span>}
      act={{
        label: words.review.rollBackAct(chosen.length),
        isReady: chosen.length > 0 && plan.isSuccess && !plan.isPlaceholderData,
        write,
        onSelect: act,
      }}
    >
      {left.length === 0 ? <Empty title={words.undo.nothing} /> : pendingOf(plan, 3)}
      <ul className="plain-list">
        {left.map((edit) => (
          <li key={`${edit.kind}/${edit.id}`}>
            <label>
              <input type="checkbox" checked={!kept.has(edit)} onChange={() => keep(edit)} />{' '}
              {words.review.back[INVERSE[edit.op]]} {kindName(edit.kind)} <Text in="strong">{edit.id}</Text>
            </label>
          </li>
        ))}
      </ul>
    </Dialog>
  )
}
