/** A dialog; a sheet on phones. `Esc` and the veil close it, and the focus goes back to where it was. */
import { type FormEvent, type ReactNode, useId, useLayoutEffect, useRef } from 'react'
import { type Deletion, pathOf, type Failure as Refusal, useAsk, useWrite } from '../api/queries.ts'
import { words } from '../words.ts'
import { Failure, pendingOf, say } from './answer.tsx'
import { Button } from './button.tsx'
import { Text } from './text.tsx'

type Props = {
  title: ReactNode
  onClose: () => void
  /** Below the content, before the buttons. */
  foot?: ReactNode
  act?: Act | undefined
  children: ReactNode
  isWide?: boolean
}

/** What the dialog is for, beside the way out, and what it writes: it is ready again when that ended. */
type Act = {
  label: ReactNode
  isReady?: boolean
  onSelect: () => void
  write?: { isPending: boolean; error: Refusal | null }
  tone?: 'danger' | undefined
  /** Enter in a field does it too. */
  isForm?: true
}

export function Dialog({ title, onClose, foot, act, children, isWide = false }: Props) {
  const element = useRef<HTMLDialogElement>(null)
  const [name, form] = [useId(), useId()]
  const isReady = act?.isReady !== false && act?.write?.isPending !== true
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isReady) act?.onSelect()
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
      <div className="stack gap-4 dialog-body">
        <h2 id={name}>{title}</h2>
        {act?.isForm ? (
          <form id={form} onSubmit={submit}>
            {children}
          </form>
        ) : (
          children
        )}
        {act?.write?.error && <Failure of={act.write.error} />}
      </div>
      {(foot !== undefined || act) && (
        <footer className="chips gap-3 over">
          {foot}
          {act && (
            <>
              <Button className="quiet" label={words.cancel} kbd="esc" onClick={onClose} />
              <Button
                className={act.tone ?? 'primary'}
                label={act.label}
                disabled={!isReady}
                {...(act.isForm ? { type: 'submit', form } : { onClick: act.onSelect })}
              />
            </>
          )}
        </footer>
      )}
    </dialog>
  )
}

/** Deletes a resource, after what the server says goes with it. */
type DeletePlanProps = {
  /** Where it is. Its id is the last part, and confirms. */
  of: readonly [string, ...string[]]
  /** The base that shows it. */
  base?: string
  says: { title: string; act: string; done: string; about: string }
  /** Where to go before what shows it is read again. */
  onDone: () => void
  onClose: () => void
}

export function DeletePlan({ of, base, says, onDone, onClose }: DeletePlanProps) {
  const confirm = of.at(-1) as string
  const write = useWrite<unknown>(base)
  const plan = useAsk<{ deletion?: Deletion }>(pathOf(of, { confirm, dry_run: true }), undefined, {
    method: 'DELETE',
  })
  const count = (group: 'records' | 'relationships' | 'files' | 'attachments') =>
    plan.data?.deletion?.[group]?.count ?? 0
  return (
    <Dialog
      title={<Text>{says.title}</Text>}
      onClose={onClose}
      act={{
        label: <Text>{says.act}</Text>,
        tone: 'danger',
        isReady: plan.isSuccess,
        write,
        onSelect: () =>
          write.send('DELETE', pathOf(of, { confirm }), undefined, () => {
            say(<Text>{says.done}</Text>)
            onClose()
            onDone()
          }),
      }}
    >
      {pendingOf(plan, 2)}
      {plan.data && (
        <p>
          {words.goesAlong(count('records'), count('relationships'), count('files') + count('attachments'))}
        </p>
      )}
      <p className="meta">{says.about}</p>
    </Dialog>
  )
}
