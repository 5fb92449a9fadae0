/** What went wrong, in the words of the server, and what there is to do. */
import type { ReactNode } from 'react'
import { OFFLINE, type Failure as Refusal } from '../api/failure.ts'
import { words } from '../words.ts'
import { Button } from './button.tsx'
import { Icon } from './icon.tsx'
import { Text } from './text.tsx'

/** The sentence for a refusal: what kind of thing went wrong, for a person. */
function leadOf({ status, retryAfter }: Refusal): string | undefined {
  if (status === OFFLINE) return words.failures.offline
  if (status === 403) return words.failures.forbidden
  if (status === 409) return words.failures.conflict
  if (status === 429) return words.failures.busy(retryAfter ?? 1)
  if (status >= 500) return words.failures.server
  return undefined
}

export function Failure({ of, onRetry }: { of: Refusal; onRetry?: () => void }) {
  const lead = leadOf(of)
  return (
    <div className="failure" role="alert">
      <Icon name="warning" />
      <div>
        {lead !== undefined && <strong>{lead}</strong>}
        <Text in="p">{of.message}</Text>
        <ul>
          {of.details
            .filter(({ message }) => message !== of.message)
            .slice(0, 5)
            .map(({ path, message }) => (
              <li key={path + message}>
                <Text>{message}</Text>
              </li>
            ))}
        </ul>
        <p className="row gap-3 meta">
          {onRetry && <Button label={words.tryAgain} onClick={onRetry} />}
          {of.requestId !== undefined && <code>{words.request(of.requestId)}</code>}
        </p>
      </div>
    </div>
  )
}

/** What the server refused; of what was written since it was shown, with the way to what it is now. */
export function Refused({ of, onRenew }: { of: Refusal | null; onRenew: () => void }) {
  if (!of) return null
  if (!of.details.some(({ code }) => code === 'changed_since')) return <Failure of={of} />
  return (
    <div className="amber section" role="alert">
      <p>{words.review.changedSince}</p>
      <Button label={words.record.toNow} onClick={onRenew} />
    </div>
  )
}

/** What would be here, why it is not, and one action. */
export const Empty = ({
  title,
  hint,
  children,
}: {
  title: string
  hint?: string | false
  children?: ReactNode
}) => (
  <div className="stack gap-3 faint empty">
    <p>{title}</p>
    {hint && <p className="meta">{hint}</p>}
    {children}
  </div>
)

type Reading = { error: Refusal | null; isPending: boolean; refetch: () => unknown }

/** The state of a read until it has an answer; undefined then. */
export function pendingOf({ error, isPending, refetch }: Reading, lines = 6): ReactNode | undefined {
  if (error) return <Failure of={error} onRetry={() => void refetch()} />
  return isPending ? <Skeleton lines={lines} /> : undefined
}

export const Skeleton = ({ lines }: { lines: number }) => (
  <div className="stack skeleton" aria-busy="true" role="status" aria-label={words.loading}>
    {Array.from({ length: lines }, (_, at) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: lines without content
      <span key={at} />
    ))}
  </div>
)
