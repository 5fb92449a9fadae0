/** What the server answered, in its own words: what went wrong and what there is to do, what is not there yet, and what was done. */
import type { ReactNode } from 'react'
import { isPassing, OFFLINE, type Failure as Refusal } from '../api/failure.ts'
import { storeOf } from '../api/store.ts'
import { words } from '../words.ts'
import { Button, Icon } from './button.tsx'
import { Text } from './text.tsx'

const MOVED = /mismatch|changed|stale|raced|overtaken|decided/

/** The sentence for a refusal: what kind of thing went wrong, for a person. */
function leadOf({ status, retryAfter, details }: Refusal): string | undefined {
  if (status === OFFLINE) return words.failures.offline
  if (status === 403) return words.failures.forbidden
  if (status === 409 && details.every(({ code }) => MOVED.test(code))) return words.failures.conflict
  if (status === 429) return words.failures.busy(retryAfter ?? 1)
  return status >= 500 ? words.failures.server : undefined
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

export type Reading = {
  error: Refusal | null
  isPending: boolean
  /** What it was before, where another read failed: it stays, with what a person typed in it, while that may pass. */
  data?: unknown
  refetch: () => unknown
}

/** The state of a read until it has an answer; undefined then. */
export function pendingOf({ error, isPending, data, refetch }: Reading, lines = 6): ReactNode | undefined {
  if (error && !(data !== undefined && isPassing(error)))
    return <Failure of={error} onRetry={() => void refetch()} />
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

/** A short word at the bottom of the page on what was done, with the way back where there is one. */
type Said = { text: ReactNode; action?: { label: string; onSelect: () => void } }

/** Counted anew with each key, so that nobody who walks to the button by Tab finds it gone. */
const SECONDS = 20
const said = storeOf<Said | undefined>(undefined)
let timer: ReturnType<typeof setTimeout> | undefined

function become(next: Said | undefined): void {
  clearTimeout(timer)
  if (next) timer = setTimeout(() => become(undefined), SECONDS * 1000)
  said.set(next)
}
addEventListener('keydown', () => become(said.get()))
export const say = (text: ReactNode, action?: Said['action']): void =>
  become({ text, ...(action && { action }) })

/** With the way back: the undo of the request that did it. */
export const sayDone = (text: ReactNode, base: string, request: string, label: string = words.undo.verb) =>
  say(text, { label, onSelect: () => askUndo({ base, of: { request_id: request } }) })

export function Toast() {
  const now = said.use()
  return (
    <div className="toasts" role="status" aria-live="polite">
      {now && <Word of={now} onClose={() => become(undefined)} />}
    </div>
  )
}

export const Word = ({ of: { text, action }, onClose }: { of: Said; onClose: () => void }) => (
  <div className="toast">
    <span>{text}</span>
    {action && (
      <Button
        label={action.label}
        onClick={() => {
          onClose()
          action.onSelect()
        }}
      />
    )}
    <Button className="quiet" icon="close" aria-label={words.close} onClick={onClose} />
  </div>
)

/** The undo that a person asked for, wherever that was: one dialog for all pages, and for the way back in a toast. */
export type Undo = {
  base: string
  /** The body of the undo: which changes. */
  of: Record<string, unknown>
  /** Whose changes, made how and when. */
  about?: ReactNode
}

export const asked = storeOf<Undo | undefined>(undefined)
export const askUndo = (undo: Undo): void => asked.set(undo)
