/** Ends a token. It asks for the name, and offers to take back what was done with it. */
import { useState } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { to } from '../../addresses.ts'
import { pathOf, type Token, useWrite } from '../../api/queries.ts'
import { say } from '../../parts/answer.tsx'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Fields } from '../../parts/fields.tsx'
import { Text } from '../../parts/text.tsx'
import { words } from '../../words.ts'

type Props = { base: string; token: Token; onClose: () => void; onUndo: () => void }

export function Revoke({ base, token, onClose, onUndo }: Props) {
  const [draft, setDraft] = useState({ typed: '' })
  const [isDone, setDone] = useState(false)
  const write = useWrite<unknown>(undefined)
  const revoke = () =>
    write.send('DELETE', pathOf(['tokens', token.id]), undefined, () => {
      say(<Text>{words.agents.revoked(token.name)}</Text>)
      setDone(true)
    })
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
  const label = (
    <>
      {words.agents.typeName} <Text in="strong">{token.name}</Text>
    </>
  )
  return (
    <Dialog
      title={<Text>{words.agents.revokeTitle(token.name)}</Text>}
      onClose={onClose}
      act={{
        label: <Text>{words.agents.revokeAct(token.name)}</Text>,
        tone: 'danger',
        isReady: draft.typed === token.name,
        onSelect: revoke,
        write,
        isForm: true,
      }}
    >
      <p>{words.agents.revokeAbout}</p>
      <div className="form-grid">
        <Fields of={[{ name: 'typed', label }]} draft={draft} onChange={setDraft} />
      </div>
    </Dialog>
  )
}
