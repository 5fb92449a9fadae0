/** Makes a preview: its name, and what it begins with. */
import { useId, useState } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { to } from '../../addresses.ts'
import { pathOf, useWrite } from '../../api/queries.ts'
import type { Base } from '../../api/shapes.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Failure } from '../../parts/failure.tsx'
import { shortName } from '../../parts/previews.ts'
import { Select } from '../../parts/select.tsx'
import { say } from '../../parts/toast.tsx'
import { words } from '../../words.ts'

type Props = { base: string; production: string; onClose: () => void }
type Copy = keyof typeof words.environments.copies

export function NewPreview({ base, production, onClose }: Props) {
  const [name, setName] = useState('')
  const [copy, setCopy] = useState<Copy>('config_and_sample')
  const write = useWrite<Base>(undefined)
  const id = useId()
  const make = () =>
    write.send('POST', pathOf([production, 'preview']), { name, copy }, (made) => {
      say(words.environments.made(shortName(made.id)))
      onClose()
      navigate(to.environments(base, made.id))
    })
  return (
    <Dialog
      title={words.environments.makeTitle(production)}
      onClose={onClose}
      act={{
        label: words.environments.act,
        isReady: name !== '' && !write.isPending,
        onSelect: make,
        isForm: true,
      }}
    >
      <div className="form-grid">
        <label htmlFor={`${id}-name`}>{words.environments.name}</label>
        <input
          id={`${id}-name`}
          required
          autoComplete="off"
          value={name}
          aria-describedby={`${id}-hint`}
          onChange={({ target }) => setName(target.value)}
        />
        <p id={`${id}-hint`} className="meta second">
          {words.environments.nameHint}
        </p>
        <label htmlFor={`${id}-copy`}>{words.environments.copy}</label>
        <Select
          id={`${id}-copy`}
          options={Object.entries(words.environments.copies) as [Copy, string][]}
          value={copy}
          onChange={setCopy}
        />
      </div>
      {write.error && <Failure of={write.error} />}
    </Dialog>
  )
}
