/** Steps of what caused a change or came of it, indented by how far each is. */
import { to } from '../addresses.ts'
import { pathOf, useRead, useTriggerNames } from '../api/queries.ts'
import type { ChangeSummary, Delivery, TraceStep } from '../api/shapes.ts'
import { words } from '../words.ts'
import { TextLink } from './link.tsx'
import { Chip, Text, Time, toneOf } from './text.tsx'

type Step = Omit<TraceStep, 'change'> & { change: (ChangeSummary & { title?: string }) | null }

export const useTrace = (base: string, seq: number) =>
  useRead<{ causes: Step[]; effects: Step[] }>(pathOf([base, 'changes', String(seq), 'trace']))

const DEEP = 4

export const Steps = ({ base, steps }: { base: string; steps: readonly Step[] }) => (
  <ol className="steps">
    {steps.map((step) => (
      <li key={step.kind + step.id} className="py-1" data-depth={Math.min(step.depth, DEEP)}>
        <span className="meta">{words.steps[step.kind]}</span>
        <Name base={base} step={step} />
        {step.actor && <Text>{step.actor.name}</Text>}
        {step.status !== null && (
          <Chip tone={toneOf(stateOf(step, step.status))}>{stateOf(step, step.status)}</Chip>
        )}
        <Time at={step.at ?? ''} />
      </li>
    ))}
  </ol>
)

const stateOf = ({ kind }: Step, status: string): string =>
  kind === 'trigger_delivery' ? (words.record.deliveries[status as Delivery['status']] ?? status) : status

function Name({ base, step: { of, id, change, kind } }: { base: string; step: Step }) {
  const called = useTriggerNames(base)
  if (kind === 'trigger_delivery' && of) return <Text>{called(of)}</Text>
  if (!change?.record_type) return <Text>{of ?? (kind === 'request' ? id.slice(0, 8) : id)}</Text>
  return <TextLink href={to.record(base, change.record_type, change.id)} text={change.title ?? change.id} />
}
