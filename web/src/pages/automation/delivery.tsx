/** A delivery in a line; opened, with what was sent, what was answered, and the change that it is of. */
import { useState } from 'react'
import { to } from '../../addresses.ts'
import { useChange } from '../../api/queries.ts'
import type { Delivery } from '../../api/shapes.ts'
import { Button } from '../../parts/button.tsx'
import { ChangesInTable, changesOf } from '../../parts/diff.tsx'
import { Icon } from '../../parts/icon.tsx'
import { LinkButton } from '../../parts/link.tsx'
import { Facts } from '../../parts/panel.tsx'
import { Chip, fieldName, Text, type Tone } from '../../parts/text.tsx'
import { Time } from '../../parts/time.tsx'
import { LongValue } from '../../parts/value.tsx'
import { Who } from '../../parts/who.tsx'
import { words } from '../../words.ts'
import { stateOf, useDetail } from './load.ts'

const TONES: Readonly<Record<Delivery['status'], Tone>> = {
  succeeded: 'added',
  pending: 'quiet',
  failed: 'changed',
  dead: 'removed',
}

type Props = { base: string; of: Delivery; onAgain?: () => void; isBusy: boolean }

export function DeliveryRow({ base, of, onAgain, isBusy }: Props) {
  const [isOpen, setOpen] = useState(false)
  const { record_type: type, record_id: id, title, created_at: at, error } = of
  const tone = of.direction === 'in' && of.status === 'failed' ? 'removed' : TONES[of.status]
  return (
    <li>
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <Icon name="right" />
          <Text>{title ?? id ?? fieldName(type ?? words.automation.testEvent)}</Text>
          <Chip tone={tone}>{stateOf(of)}</Chip>
          <Time at={at} />
        </summary>
        {isOpen && <Opened base={base} of={of} />}
        {isOpen && (
          <p className="chips">
            {onAgain && of.status !== 'pending' && (
              <Button label={words.automation.again[of.direction]} disabled={isBusy} onClick={onAgain} />
            )}
            {type !== null && id !== null && (
              <LinkButton label={words.automation.toRecord} href={to.record(base, type, id)} />
            )}
          </p>
        )}
      </details>
      {error !== null && !isOpen && (
        <p className="note">
          <Text>{error}</Text>
        </p>
      )}
    </li>
  )
}

function Opened({ base, of }: { base: string; of: Delivery }) {
  const detail = useDetail(base, of)
  const text = words.automation.facts
  const answer = detail?.response?.body?.trim()
  const faults = detail && typeof detail.error === 'object' ? detail.error?.details : undefined
  return (
    <>
      <Facts
        of={[
          of.direction === 'out' && [text.attempts, words.automation.tries(of.attempts)],
          of.next_attempt_at !== null && [text.next, <Time key="next" at={of.next_attempt_at} />],
          detail?.response
            ? [text.took, words.automation.ms(detail.response.duration_ms)]
            : of.error !== null && [text.error, <Text key="error">{of.error}</Text>],
          !!answer && [text.answer, <LongValue key="answer" value={answer} />],
          !!detail?.body && [text.received, <LongValue key="body" value={detail.body} />],
          !!faults?.length && [
            text.faults,
            <Text key="faults">{faults.map(({ message }) => message).join(' ')}</Text>,
          ],
        ]}
      />
      {of.change_seq !== null && <Cause base={base} seq={of.change_seq} />}
    </>
  )
}

/** The change that set it off. */
function Cause({ base, seq }: { base: string; seq: number }) {
  const change = useChange(base, seq)
  if (!change) return null
  return (
    <div className="delivery-cause">
      <p className="note">
        {words.automation.cause} <Who name={change.actor.name} kind={change.actor.kind} />{' '}
        <Time at={change.at} />
      </p>
      <ChangesInTable changes={changesOf(change.diff)} />
    </div>
  )
}
