/** What caused a change, back to the tool call or the request, and what it set off. */
import { Link } from 'wouter'
import { to } from '../../addresses.ts'
import type { Change } from '../../api/shapes.ts'
import { Chip, toneOf } from '../../parts/chip.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { pendingOf } from '../../parts/failure.tsx'
import { Text } from '../../parts/plain-text.tsx'
import { Time } from '../../parts/time.tsx'
import { words } from '../../words.ts'
import { type TraceStep, useTrace } from './load.ts'

export function Cause({ base, change, onClose }: { base: string; change: Change; onClose: () => void }) {
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

const Steps = ({ base, steps }: { base: string; steps: readonly TraceStep[] }) => (
  <ol className="steps">
    {steps.map((step) => (
      <li key={step.kind + step.id} data-depth={Math.min(step.depth, 4)}>
        <span className="meta">
          {words.record.steps[step.kind as keyof typeof words.record.steps] ?? step.kind}
        </span>
        <Name base={base} step={step} />
        {step.actor && <Text>{step.actor.name}</Text>}
        {step.status !== null && (
          <Chip tone={step.status === 'dead' ? 'removed' : toneOf(step.status)}>{step.status}</Chip>
        )}
        <Time at={step.at} />
      </li>
    ))}
  </ol>
)

function Name({ base, step: { of, id, change, kind } }: { base: string; step: TraceStep }) {
  if (change?.record_type)
    return (
      <Link href={to.record(base, change.record_type, change.id)}>
        <Text>{change.title ?? change.id}</Text>
      </Link>
    )
  return <Text>{of ?? (kind === 'request' ? id.slice(0, 8) : id)}</Text>
}
