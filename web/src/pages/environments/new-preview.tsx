/** Makes a preview: its name, and what it begins with. */
import { type FormEvent, useId, useState } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { to } from '../../addresses.ts'
import { useWrite } from '../../api/queries.ts'
import { pathOf } from '../../api/send.ts'
import type { Base } from '../../api/shapes.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Failure } from '../../parts/failure.tsx'
import { shortName } from '../../parts/previews.ts'
import { say } from '../../parts/toast.tsx'
import { words } from '../../words.ts'

type Props = { base: string; production: string; onClose: () => void }
type Copy = keyof typeof words.environments.copies

export function NewPreview({ base, production, onClose }: Props) {
  const [name, setName] = useState('')
  const [copy, setCopy] = useState<Copy>('config_and_sample')
  const write = useWrite<Base>(undefined)
  const form = useId()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    write.mutate({
      method: 'POST',
      path: pathOf([production, 'preview']),
      body: { name, copy },
      onDone: ({ id }) => {
        say(words.environments.made(shortName(id)))
        onClose()
        navigate(to.environments(base, id))
      },
    })
  }
  return (
    <Dialog
      title={words.environments.makeTitle(production)}
      onClose={onClose}
      act={{ label: words.environments.act, isReady: name !== '' && !write.isPending, form }}
    >
      <form id={form} className="form-grid" onSubmit={submit}>
        <label htmlFor={`${form}-name`}>{words.environments.name}</label>
        <input
          id={`${form}-name`}
          required
          autoComplete="off"
          value={name}
          aria-describedby={`${form}-hint`}
          onChange={({ target }) => setName(target.value)}
        />
        <p id={`${form}-hint`} className="meta second">
          {words.environments.nameHint}
        </p>
        <label htmlFor={`${form}-copy`}>{words.environments.copy}</label>
        <select id={`${form}-copy`} value={copy} onChange={({ target }) => setCopy(target.value as Copy)}>
          {Object.entries(words.environments.copies).map(([each, text]) => (
            <option key={each} value={each}>
              {text}
            </option>
          ))}
        </select>
      </form>
      {write.error && <Failure of={write.error} />}
    </Dialog>
  )
}
