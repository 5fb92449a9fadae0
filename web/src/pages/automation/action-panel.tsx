/** An action: its steps, and its runs with what became of each. */
import { CardItem } from '../../parts/card.tsx'
import { pendingOf } from '../../parts/failure.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Facts, Panel } from '../../parts/panel.tsx'
import { kindName } from '../../parts/proposal.ts'
import { useParameters } from '../../parts/search.ts'
import { Segments } from '../../parts/segments.tsx'
import { Chip, Text, toneOf } from '../../parts/text.tsx'
import { Time } from '../../parts/time.tsx'
import { LongValue } from '../../parts/value.tsx'
import { Who } from '../../parts/who.tsx'
import { words } from '../../words.ts'
import { type Action, type Run, useRuns } from './load.ts'

type Props = { base: string; action: Action; back: string }

export function ActionPanel({ base, action, back }: Props) {
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
            <li key={name}>
              <Text>{name}</Text> <span className="tool">{type}</span>
            </li>
          ))}
        </ol>
      </CardItem>
      <CardItem title={words.automation.runs}>
        <Segments
          label={words.automation.runs}
          options={{ all: words.automation.all, failed: words.automation.onlyFailed.out }}
          value={isFailed ? 'failed' : 'all'}
          onChange={(only) => change({ only }, true)}
        />
        {pendingOf(runs, 4)}
        {runs.data?.data.length === 0 && <p className="meta">{words.automation.noRun}</p>}
        <ul className="deliveries">
          {runs.data?.data.map((run) => (
            <RunRow key={run.id} run={run} />
          ))}
        </ul>
      </CardItem>
    </Panel>
  )
}

type RunProps = { run: Run }

const RunRow = ({
  run: { actor, status, created_at: at, error, input, steps, duration_ms: ms },
}: RunProps) => (
  <li>
    <details>
      <summary>
        <Icon name="right" />
        <Who name={actor.name} kind={actor.kind} />
        <Chip tone={toneOf(status)}>{words.automation.runStates[status] ?? status}</Chip>
        <Time at={at} />
      </summary>
      <Facts
        of={[
          [words.automation.facts.took, words.automation.ms(ms)],
          [words.automation.facts.input, <LongValue key="input" value={input} />],
          ...(steps ?? []).map(({ name, status: end }) => [name, <Text key={name}>{end}</Text>] as const),
        ]}
      />
    </details>
    {error && (
      <p className="note">
        <Text>{error.message}</Text>
      </p>
    )}
  </li>
)
