/** How the record came to be: its versions, newest first, and the triggers that fired between them. */
import { useState } from 'react'
import { Link } from 'wouter'
import { to } from '../../addresses.ts'
import type { Change, Delivery } from '../../api/shapes.ts'
import { pendingOf } from '../../parts/answer.tsx'
import { Button, Icon } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { ChangesInTable, changesOf } from '../../parts/diff.tsx'
import { useMay } from '../../parts/grants.ts'
import { itemsOf, Menu } from '../../parts/menu.tsx'
import { RollBackOne } from '../../parts/promotions.tsx'
import { kindName } from '../../parts/proposal.ts'
import { Chip, Text, Time } from '../../parts/text.tsx'
import { Steps, useTrace } from '../../parts/trace.tsx'
import { ProposedBy, Shape } from '../../parts/who.tsx'
import { words } from '../../words.ts'
import { type Place, type useHistory, VERSIONS } from './load.ts'
import { UndoChange } from './undo-change.tsx'

const FIRST_FIELDS = 6

type Props = {
  place: Place
  history: ReturnType<typeof useHistory>
  fired: readonly Delivery[]
  shown: number
  last: number
  /** Shows a version, and what it differs in from another. */
  onShow: (version: number, vs?: number) => void
}
type Panel = 'undo' | 'cause' | 'promotion'

export function History({ place, history, fired, shown, last, onShow }: Props) {
  const [open, setOpen] = useState<{ panel: Panel; change: Change }>()
  const mayWrite = useMay(place.base, place.type, 'write')
  const changes = history.data?.data ?? []
  return (
    <aside className="history sunken" aria-label={words.record.history}>
      <header className="row">
        <h2 className="grow">{words.record.history}</h2>
        {changes.length > 1 && (
          <Menu
            label={words.record.compare}
            items={itemsOf(
              changes
                .filter(({ version, operation }) => version !== shown && operation !== 'delete')
                .map(({ version, actor }) => [version, words.record.compareWith(version), actor.name]),
              (version) => onShow(shown, version),
            )}
          />
        )}
      </header>
      {pendingOf(history, 6)}
      <ol>
        {changes.map((change, at) => (
          <Entry
            key={change.seq}
            change={change}
            fired={fired.filter(({ change_seq: seq }) => seq === change.seq)}
            isFirst={at === 0}
            isShown={change.version === shown && shown !== last}
            mayWrite={mayWrite}
            onOpen={(panel) => setOpen({ panel, change })}
            {...(change.version > 1 &&
              change.operation !== 'restore' && { onBefore: () => onShow(change.version - 1) })}
          />
        ))}
      </ol>
      {changes.length === VERSIONS && (
        <p className="note">
          {words.record.before(changes.at(-1)?.version ?? 1)}: {words.record.earlier}
        </p>
      )}
      {open?.panel === 'undo' && (
        <UndoChange place={place} change={open.change} onClose={() => setOpen(undefined)} />
      )}
      {open?.panel === 'promotion' && open.change.cause !== null && (
        <RollBackOne
          base={place.base}
          id={open.change.cause}
          only={`${place.type}/${place.id}`}
          onClose={() => setOpen(undefined)}
        />
      )}
      {open?.panel === 'cause' && (
        <Cause base={place.base} change={open.change} onClose={() => setOpen(undefined)} />
      )}
    </aside>
  )
}

type EntryProps = {
  change: Change
  fired: readonly Delivery[]
  isFirst: boolean
  isShown: boolean
  mayWrite: boolean
  onOpen: (panel: Panel) => void
  onBefore?: () => void
}

function Entry({ change, fired, isFirst, isShown, mayWrite, onOpen, onBefore }: EntryProps) {
  const [isWhole, setWhole] = useState(false)
  const { actor, call, at, operation, proposed, version } = change
  const fields = operation === 'delete' || operation === 'cancel' ? [] : changesOf(change.diff)
  const shown = isWhole ? fields : fields.slice(0, FIRST_FIELDS)
  return (
    <>
      {fired.map((each) => (
        <FiredEntry key={each.id} of={each} />
      ))}
      <li
        className={`stack entry ${isFirst ? 'first' : ''} ${isShown ? 'shown' : ''}`}
        aria-label={words.record.version(version)}
      >
        <Shape {...actor} />
        <div className="line">
          <Text in="strong">{actor.name}</Text>
          {operation !== 'update' && <span>{words.record.operations[operation]}</span>}
          {call?.tool && <Text className="tool">{call.tool}</Text>}
          <span className="note">{words.record.short(version)}</span>
          <Time at={at} />
        </div>
        {proposed && (
          <p className="meta">
            <ProposedBy by={[proposed]} />{' '}
            {proposed.call?.tool && <Text className="tool">{proposed.call.tool}</Text>}
          </p>
        )}
        {shown.length > 0 && <ChangesInTable changes={shown} />}
        {fields.length > shown.length && (
          <Button
            className="quiet"
            label={words.moreFields(fields.length - shown.length)}
            onClick={() => setWhole(true)}
          />
        )}
        <div className="chips entry-acts">
          <Button
            className="quiet"
            icon="undo"
            label={words.record.undoThis}
            data-key={isFirst ? 'u' : undefined}
            disabled={!mayWrite}
            title={mayWrite ? undefined : words.mayNotWrite}
            onClick={() => onOpen('undo')}
          />
          {proposed && mayWrite && (
            <Button className="quiet" label={words.review.rollBack} onClick={() => onOpen('promotion')} />
          )}
          {onBefore && <Button className="quiet" label={words.record.asBefore} onClick={onBefore} />}
          <Button className="quiet" label={words.record.cause} onClick={() => onOpen('cause')} />
        </div>
      </li>
    </>
  )
}

/** A delivery: a trigger sent something, or an inbound webhook wrote. */
function FiredEntry({ of: fired }: { of: Delivery }) {
  const { of, status, response_status: answer, error, last_attempt_at: at, created_at: made } = fired
  const isBad = status === 'failed' || status === 'dead'
  const state = [words.record.deliveries[status], isBad ? answer : undefined].filter(Boolean).join(', ')
  return (
    <li className="stack entry fired">
      <span className="shape program" aria-hidden="true">
        <Icon name={isBad ? 'warning' : 'out'} />
      </span>
      <div className="line" title={error ?? undefined}>
        <span className="meta">{kindName(of.kind)}</span>
        <Text>{of.name ?? of.id}</Text>
        <Chip tone={isBad ? 'removed' : status === 'succeeded' ? 'added' : 'quiet'}>{state}</Chip>
        <Time at={at ?? made} />
      </div>
    </li>
  )
}

/** What caused a change, back to the tool call or the request, and what it set off. */
function Cause({ base, change, onClose }: { base: string; change: Change; onClose: () => void }) {
  const trace = useTrace(base, change.seq)
  const { causes = [], effects = [] } = trace.data ?? {}
  return (
    <Dialog
      title={words.record.causes}
      onClose={onClose}
      foot={<Link href={to.request(base, change.request_id)}>{words.record.ofRequest}</Link>}
    >
      {pendingOf(trace, 4)}
      {trace.data && (
        <>
          <h3>{words.record.began}</h3>
          <Steps base={base} steps={[...causes].reverse()} />
          <h3>{words.record.setOff}</h3>
          {effects.length === 0 ? (
            <p className="note">{words.record.nothingSetOff}</p>
          ) : (
            <Steps base={base} steps={effects} />
          )}
        </>
      )}
    </Dialog>
  )
}
