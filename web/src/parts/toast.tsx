/** A short word at the bottom of the page on what was done, with the way back where there is one. */
import type { ReactNode } from 'react'
import { storeOf } from '../api/store.ts'
import { words } from '../words.ts'
import { Button } from './button.tsx'
import { askUndo } from './undo/asked.ts'

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
