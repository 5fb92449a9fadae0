/** What was said about one record, and a word of one's own on it or on one of its fields. */
import { useId, useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { pathOf } from '../../api/send.ts'
import { say } from '../../parts/toast.tsx'
import { words } from '../../words.ts'
import { Opinion } from './opinions.tsx'
import { Refused } from './refused.tsx'
import type { Said, Verdict } from './said.ts'

/** What a reviewer can send about the revision that the page shows. */
export type Sending = {
  base: string
  from: string
  revision: number | undefined
  mayReview: boolean
  maySay: boolean
  /** Shows the change-set as it is now. */
  onRenew(): void
}
type Resource = NonNullable<Said['resources']>[number]

export function useVerdict({ base, from, revision }: Sending) {
  const write = useWrite<Said>(base)
  const send = (verdict: Verdict, text: string, resources?: readonly Resource[], onDone?: () => void) =>
    write.mutate({
      ...{ method: 'POST', path: pathOf([from, 'reviews']) },
      body: {
        ...{ verdict, revision },
        ...(text.trim() !== '' && { text: text.trim() }),
        ...(resources && { resources }),
      },
      onDone: () => {
        say(words.review.verdictSaid[verdict])
        onDone?.()
      },
    })
  return { send, write }
}

type Props = {
  of: Sending
  resource: Resource
  fields: readonly (readonly [path: string, name: string])[]
  said: readonly Said[]
}

export function OnRecord({ of, resource, fields, said }: Props) {
  const [isOpen, setOpen] = useState(false)
  const [field, setField] = useState('')
  const [text, setText] = useState('')
  const { send, write } = useVerdict(of)
  const name = useId()
  const about = [field === '' ? resource : { ...resource, fields: [field] }]
  const done = () => {
    setText('')
    setOpen(false)
  }
  const isIdle = of.revision !== undefined && !write.isPending
  return (
    <>
      {said.map((each) => (
        <Opinion key={each.id} of={each} />
      ))}
      {of.maySay && !isOpen && (
        <p className="review-say">
          <button type="button" className="quiet" onClick={() => setOpen(true)}>
            {words.review.saySomething}
          </button>
        </p>
      )}
      {isOpen && (
        <div className="card-item review-verdict">
          {fields.length > 0 && (
            <select
              aria-label={words.review.sayAbout}
              value={field}
              onChange={({ target }) => setField(target.value)}
            >
              <option value="">{words.review.wholeRecord}</option>
              {fields.map(([path, label]) => (
                <option key={path} value={path}>
                  {label}
                </option>
              ))}
            </select>
          )}
          <label htmlFor={name} className="hidden">
            {words.review.word}
          </label>
          <textarea
            id={name}
            // biome-ignore lint/a11y/noAutofocus: it was asked for by the button that it replaces
            autoFocus
            placeholder={words.review.word}
            maxLength={2000}
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
          <p className="chips">
            {of.mayReview && (
              <>
                <button type="button" disabled={!isIdle} onClick={() => send('approve', text, about, done)}>
                  {words.review.verdicts.approve}
                </button>
                <button
                  type="button"
                  disabled={!isIdle || text.trim() === ''}
                  onClick={() => send('request_changes', text, about, done)}
                >
                  {words.review.verdicts.request_changes}
                </button>
              </>
            )}
            <button
              type="button"
              disabled={!isIdle || text.trim() === ''}
              onClick={() => send('comment', text, about, done)}
            >
              {words.review.verdicts.comment}
            </button>
            <button type="button" className="quiet" onClick={done}>
              {words.cancel}
            </button>
          </p>
          <Refused
            of={write.error}
            onRenew={() => {
              write.reset()
              of.onRenew()
            }}
          />
        </div>
      )}
    </>
  )
}
