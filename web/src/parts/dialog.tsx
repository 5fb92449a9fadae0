/** A dialog; a sheet on phones. `Esc` and the veil close it, and the focus goes back to where it was. */
import { type ReactNode, useEffect, useId, useRef } from 'react'

type Props = {
  title: ReactNode
  onClose: () => void
  /** Below the content: what can be done. */
  foot?: ReactNode
  children: ReactNode
  isWide?: boolean
}

export function Dialog({ title, onClose, foot, children, isWide = false }: Props) {
  const element = useRef<HTMLDialogElement>(null)
  const name = useId()
  useEffect(() => {
    element.current?.showModal()
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
        {children}
      </div>
      {foot !== undefined && <footer>{foot}</footer>}
    </dialog>
  )
}
