/** A dialog; a sheet on phones. `Esc` and the veil close it, and the focus goes back to where it was. */
import { type FormEvent, type ReactNode, useId, useLayoutEffect, useRef } from 'react'
import { words } from '../words.ts'

type Props = {
  title: ReactNode
  onClose: () => void
  /** Below the content, before the buttons. */
  foot?: ReactNode
  /** What the dialog is for, beside the way out. Of a form, Enter in a field does it too. */
  act?: { label: ReactNode; isReady: boolean; onSelect: () => void; tone?: 'danger'; isForm?: true }
  children: ReactNode
  isWide?: boolean
}

export function Dialog({ title, onClose, foot, act, children, isWide = false }: Props) {
  const element = useRef<HTMLDialogElement>(null)
  const [name, form] = [useId(), useId()]
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (act?.isReady) act.onSelect()
  }
  // Closed before it is taken away, whatever ended it: then the focus goes back.
  useLayoutEffect(() => {
    const own = element.current
    own?.showModal()
    return () => own?.close()
  }, [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Esc closes a dialog by itself
    <dialog
      ref={element}
      className={isWide ? 'wide' : ''}
      aria-labelledby={name}
      onClose={onClose}
      onClick={({ target }) => target === element.current && element.current.close()}
    >
      <div className="dialog-body">
        <h2 id={name}>{title}</h2>
        {act?.isForm ? (
          <form id={form} onSubmit={submit}>
            {children}
          </form>
        ) : (
          children
        )}
      </div>
      {(foot !== undefined || act) && (
        <footer>
          {foot}
          {act && (
            <>
              <button type="button" className="quiet" onClick={onClose}>
                {words.cancel} <kbd className="wide-only">esc</kbd>
              </button>
              <button
                className={act.tone ?? 'primary'}
                disabled={!act.isReady}
                {...(act.isForm ? { type: 'submit', form } : { type: 'button', onClick: act.onSelect })}
              >
                {act.label}
              </button>
            </>
          )}
        </footer>
      )}
    </dialog>
  )
}
