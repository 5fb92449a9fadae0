/** A short word at the bottom of the page on what was done, with the way back where there is one. */
import { type ReactNode, useSyncExternalStore } from 'react'
import { words } from '../words.ts'
import { Icon } from './icon.tsx'

type Said = { text: ReactNode; action?: { label: string; onSelect: () => void } }

const SECONDS = 12
let said: Said | undefined
let timer: ReturnType<typeof setTimeout> | undefined
const listeners = new Set<() => void>()

function become(next: Said | undefined): void {
  clearTimeout(timer)
  said = next
  if (next) timer = setTimeout(() => become(undefined), SECONDS * 1000)
  for (const listener of listeners) listener()
}
export const say = (text: ReactNode, action?: Said['action']): void =>
  become({ text, ...(action && { action }) })

const listen = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function Toast() {
  const now = useSyncExternalStore(listen, () => said)
  return (
    <div className="toasts" role="status" aria-live="polite">
      {now && (
        <div className="toast">
          <span>{now.text}</span>
          {now.action && (
            <button
              type="button"
              onClick={() => {
                const { onSelect } = now.action ?? { onSelect: () => undefined }
                become(undefined)
                onSelect()
              }}
            >
              {now.action.label}
            </button>
          )}
          <button type="button" className="quiet" aria-label={words.close} onClick={() => become(undefined)}>
            <Icon name="close" />
          </button>
        </div>
      )}
    </div>
  )
}
