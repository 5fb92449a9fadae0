/** What caused a change, back to the tool call or the request, and what it set off. */
import { Link } from 'wouter'
import { to } from '../../addresses.ts'
import type { Change } from '../../api/shapes.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { pendingOf } from '../../parts/failure.tsx'
import { Steps, useTrace } from '../../parts/trace.tsx'
import { words } from '../../words.ts'

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
