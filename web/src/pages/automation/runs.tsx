/** What ran: a delivery in a line, opened with what was sent and answered; an action with its steps and runs. */
import { useState } from 'react'
import { to } from '../../addresses.ts'
import { type ActionRun, type Delivery, useChange } from '../../api/queries.ts'
import { pendingOf } from '../../parts/answer.tsx'
import { Button, Icon } from '../../parts/button.tsx'
import { CardItem, Facts, Panel } from '../../parts/card.tsx'
import { ChangesInTable, changesOf } from '../../parts/diff.tsx'
import { Segments } from '../../parts/fields.tsx'
import { LinkButton, useParameters } from '../../parts/link.tsx'
import { kindName } from '../../parts/proposal.ts'
import { Chip, fieldName, Meta, Text, Time, type Tone, toneOf } from '../../parts/text.tsx'
import { LongValue } from '../../parts/value.tsx'
import { Who } from '../../parts/who.tsx'
import { words } from '../../words.ts'
import { type Action, stateOf, useReceived, useRuns } from './load.ts'

const TONES: Readonly<Record<Delivery['status'], Tone>> = {
  succeeded: 'added',
  pending: 'quiet',
  failed: 'changed',
  dead: 'removed',
}

type DeliveryProps = { base: string; of: Delivery; onAgain?: () => void; isBusy: boolean }

export function DeliveryRow({ base, of, onAgain, isBusy }: DeliveryProps) {
  const [isOpen, setOpen] = useState(false)
  const { record_type: type, record_id: id, title, created_at: at, error } = of
  const tone = of.direction === 'in' && of.status === 'failed' ? 'removed' : TONES[of.status]
  return (
    <li className="py-1">
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary className="row">
          <Icon name="right" />
          <Text className="grow">{title ?? id ?? fieldName(type ?? words.automation.testEvent)}</Text>
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
      {error !== null && !isOpen && <Meta>{error}</Meta>}
    </li>
  )
}

function Opened({ base, of }: { base: string; of: Delivery }) {
  const received = useReceived(base, of)
  const text = words.automation.facts
  const answer = of.response?.body.trim()
  const faults = (received?.error?.details ?? []) as { message: string }[]
  return (
    <>
      <Facts
        of={{
          [text.attempts]: of.direction === 'out' && words.automation.tries(of.attempts),
          [text.next]: of.next_attempt_at !== null && <Time at={of.next_attempt_at} />,
          [text.took]: of.response && words.automation.ms(of.response.duration_ms),
          [text.error]: !of.response && of.error !== null && <Text>{of.error}</Text>,
          [text.answer]: answer ? <LongValue value={answer} /> : null,
          [text.received]: received?.body ? <LongValue value={received.body} /> : null,
          [text.faults]: faults.length > 0 && <Text>{faults.map(({ message }) => message).join(' ')}</Text>,
        }}
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
    <div className="stack gap-1 delivery-cause">
      <p className="note">
        {words.automation.cause} <Who {...change.actor} /> <Time at={change.at} />
      </p>
      <ChangesInTable changes={changesOf(change.diff)} />
    </div>
  )
}

type RunProps = { of: ActionRun }

export function ActionPanel({ base, action, back }: { base: string; action: Action; back: string }) {
  const [search, change] = useParameters()
  const isFailed = search['only'] === 'failed'
  const runs = useRuns(base, action.id, isFailed ? 'failed' : undefined)
  return (
    <Panel back={back} title={<Text>{action.name ?? action.id}</Text>} note={kindName('action')}>
      {action.description !== null && (
        <div className="card-item">
          <Text in="p">{action.description}</Text>
        </div>
      )}
      <CardItem title={words.automation.steps}>
        <ol className="steps">
          {action.steps.map(({ name, type }) => (
            <li key={name} className="py-1">
              <Text>{name}</Text> <span className="tool">{type}</span>
            </li>
          ))}
        </ol>
      </CardItem>
      <CardItem title={words.automation.runs}>
        <Segments
          label={words.automation.runs}
          options={{ all: words.records.views.all, failed: words.automation.onlyFailed.out }}
          value={isFailed ? 'failed' : 'all'}
          onChange={(only) => change({ only }, true)}
        />
        {pendingOf(runs, 4)}
        {runs.data?.data.length === 0 && <p className="meta">{words.automation.noRun}</p>}
        <ul className="apart deliveries">
          {runs.data?.data.map((run) => (
            <RunRow key={run.id} of={run} />
          ))}
        </ul>
      </CardItem>
    </Panel>
  )
}

const RunRow = ({
  of: { actor, status, created_at: at, error, input, steps, duration_ms: ms },
}: RunProps) => (
  <li className="py-1">
    <details>
      <summary className="row">
        <Icon name="right" />
        <span className="grow">
          <Who {...actor} />
        </span>
        <Chip tone={toneOf(status)}>{words.automation.runStates[status] ?? status}</Chip>
        <Time at={at} />
      </summary>
      <Facts
        of={[
          [words.automation.facts.took, words.automation.ms(ms)],
          [words.automation.facts.input, <LongValue key="input" value={input} />],
          ...steps.map(({ name, status: end }) => [name, <Text key={name}>{end}</Text>] as const),
        ]}
      />
    </details>
    {error && <Meta>{error.message}</Meta>}
  </li>
)
