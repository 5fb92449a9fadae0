/** What was said about one record, and a word of one's own on it or on one of its fields. */
import { type ReactNode, useState } from 'react'
import { pathOf, useWrite } from '../../api/queries.ts'
import { words } from '../../words.ts'
import { Refused, say } from '../answer.tsx'
import { Button } from '../button.tsx'
import { Select } from '../fields.tsx'
import type { Said, Verdict } from './opinion.tsx'
import { Opinion } from './opinion.tsx'

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
  const send = (verdict: Verdict, text: string, resources?: readonly Resource[], onDone?: () => void) => {
    const said = text.trim() !== '' && { text: text.trim() }
    const body = { verdict, revision, ...said, ...(resources && { resources }) }
    write.send('POST', pathOf([from, 'reviews']), body, () => {
      say(words.review.verdictSaid[verdict])
      onDone?.()
    })
  }
  return { send, write }
}

type Props = {
  of: Sending
  /** The record first, then what goes with it. */
  resources: readonly Resource[]
  fields: readonly (readonly [path: string, name: string])[]
  said: readonly Said[]
  /** What opens the form. */
  label: string
  /** Beside it. */
  children?: ReactNode
}

const VERDICTS = ['approve', 'request_changes', 'comment'] as const

export function OnRecord({ of, resources, fields, said, label, children }: Props) {
  const [isOpen, setOpen] = useState(false)
  const [field, setField] = useState('')
  const [text, setText] = useState('')
  const { send, write } = useVerdict(of)
  const about =
    field === '' ? resources : resources.slice(0, 1).map((first) => ({ ...first, fields: [field] }))
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
      {(children || (of.maySay && !isOpen)) && (
        <p className="chips review-say">
          {children}
          {of.maySay && !isOpen && (
            <Button className={children ? '' : 'quiet'} label={label} onClick={() => setOpen(true)} />
          )}
        </p>
      )}
      {isOpen && (
        <div className="card-item review-verdict">
          {fields.length > 0 && (
            <Select
              aria-label={words.types.heads.about}
              options={[['', words.review.wholeRecord], ...fields]}
              value={field}
              onChange={setField}
            />
          )}
          <textarea
            aria-label={words.review.word}
            // biome-ignore lint/a11y/noAutofocus: it was asked for by the button that it replaces
            autoFocus
            placeholder={words.review.word}
            maxLength={2000}
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
          <p className="chips">
            {(of.mayReview ? VERDICTS : (['comment'] as const)).map((each) => (
              <Button
                key={each}
                label={words.review.verdicts[each]}
                disabled={!isIdle || (each !== 'approve' && text.trim() === '')}
                onClick={() => send(each, text, about, done)}
              />
            ))}
            <Button className="quiet" label={words.cancel} onClick={done} />
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
