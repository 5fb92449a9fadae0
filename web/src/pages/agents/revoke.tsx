/** Ends a token. It asks for the name, and offers to take back what was done with it. */
import { type FormEvent, useState } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { to } from '../../addresses.ts'
import { pathOf, useWrite } from '../../api/queries.ts'
import type { Token } from '../../api/shapes.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Failure } from '../../parts/failure.tsx'
import { TextField } from '../../parts/fields.tsx'
import { Text } from '../../parts/text.tsx'
import { say } from '../../parts/toast.tsx'
import { words } from '../../words.ts'

type Props = { base: string; token: Token; onClose: () => void; onUndo: () => void }

export function Revoke({ base, token, onClose, onUndo }: Props) {
  const [typed, setTyped] = useState('')
  const [isDone, setDone] = useState(false)
  const write = useWrite<unknown>(undefined)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    write.send('DELETE', pathOf(['tokens', token.id]), undefined, () => {
      say(<Text>{words.agents.revoked(token.name)}</Text>)
      setDone(true)
    })
  }
  const leave = () => {
    onClose()
    if (isDone) navigate(to.agents(base) + location.search)
  }
  if (isDone)
    return (
      <Dialog
        title={<Text>{words.agents.revoked(token.name)}</Text>}
        onClose={leave}
        foot={
          <>
            <Button className="quiet" label={words.close} onClick={leave} />
            <Button
              className="primary"
              label={words.agents.undo}
              onClick={() => {
                onUndo()
                onClose()
              }}
            />
          </>
        }
      >
        <p>{words.agents.afterRevoke}</p>
      </Dialog>
    )
  return (
    <Dialog title={<Text>{words.agents.revokeTitle(token.name)}</Text>} onClose={onClose}>
      <p>{words.agents.revokeAbout}</p>
      <form className="form-grid" onSubmit={submit}>
        <TextField
          label={
            <>
              {words.agents.typeName} <Text in="strong">{token.name}</Text>
            </>
          }
          value={typed}
          onChange={setTyped}
        />
        <button type="submit" className="danger" disabled={typed !== token.name || write.isPending}>
          <Text>{words.agents.revokeAct(token.name)}</Text>
        </button>
      </form>
      {write.error && <Failure of={write.error} />}
    </Dialog>
  )
}
