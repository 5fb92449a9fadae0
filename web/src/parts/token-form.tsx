/**
 * Makes a token: whose, for what, with which rights. It is shown once. The token of a tab makes none that outlive it,
 * so that a stolen one leaves nothing behind: the person's own token is asked for, used once, and not kept.
 */
import { type FormEvent, useState } from 'react'
import { pathOf, useWrite } from '../api/queries.ts'
import type { Grant, Kind } from '../api/session.ts'
import type { Endpoint } from '../api/shapes.ts'
import { words } from '../words.ts'
import { Button } from './button.tsx'
import { Copied } from './copied.tsx'
import { Dialog } from './dialog.tsx'
import { Failure } from './failure.tsx'
import { ChoiceField, TextField } from './fields.tsx'
import { Text, visible } from './text.tsx'
import { DAY } from './time.tsx'

type Made = { name: string; token: string }
type Props = {
  base: string
  endpoints: readonly Pick<Endpoint, 'id' | 'name'>[]
  /** An agent's token for this endpoint, `''` for the whole base: what is decided already is not asked. */
  agentOf?: string
  onMade: (made: Made) => void
}

/** Where a token works: all of the base, or one of its endpoints. */
export const placesFor = (endpoints: Props['endpoints']): (readonly [string, string])[] => [
  ['', words.token.whole],
  ...endpoints.map(({ id, name }) => [id, visible(words.token.endpoint(name ?? id))] as const),
]

const KINDS = Object.entries(words.token.kinds) as [Kind, string][]
const PERMISSIONS = Object.entries(words.token.permissions) as [Grant['permission'], string][]
const ENDS = [
  ['', words.token.never],
  ...[30, 90, 365].map((each) => [`${each}`, words.token.days(each)] as const),
] as const

export function TokenForm({ base, endpoints, agentOf, onMade }: Props) {
  const [name, setName] = useState('')
  const [kind, setKind] = useState<Kind>('agent')
  const [endpoint, setEndpoint] = useState(agentOf ?? '')
  const [permission, setPermission] = useState<Grant['permission']>('write')
  const [environment, setEnvironment] = useState('production')
  const [days, setDays] = useState('')
  const [own, setOwn] = useState('')
  const write = useWrite<Made>(undefined)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const reach = endpoint === '' ? { record_type: '*' } : { endpoint }
    const body = {
      name: name.trim(),
      kind,
      grants: [{ base, ...reach, environment, permission }],
      ...(days !== '' && { expires_at: new Date(Date.now() + Number(days) * DAY).toISOString() }),
    }
    write.send('POST', pathOf(['tokens']), body, onMade, { authorization: `Bearer ${own.trim()}` })
  }
  return (
    <form className="form-grid" onSubmit={submit}>
      <TextField
        label={words.token.name}
        required
        maxLength={100}
        placeholder={words.token.nameHint}
        value={name}
        onChange={setName}
      />
      {agentOf === undefined && (
        <>
          <ChoiceField label={words.token.kind} options={KINDS} value={kind} onChange={setKind} />
          <ChoiceField
            label={words.token.where}
            options={placesFor(endpoints)}
            value={endpoint}
            onChange={setEndpoint}
          />
        </>
      )}
      <ChoiceField
        label={words.token.may}
        options={PERMISSIONS.filter(([each]) => endpoint === '' || each === 'read' || each === 'write')}
        value={permission}
        onChange={setPermission}
      />
      {endpoint === '' && (
        <ChoiceField
          label={words.token.environment}
          options={Object.entries(words.token.environments)}
          value={environment}
          onChange={setEnvironment}
        />
      )}
      <ChoiceField label={words.token.ends} options={ENDS} value={days} onChange={setDays} />
      <TextField
        label={words.token.own}
        hint={words.token.ownHint}
        type="password"
        placeholder="plt_…"
        required
        value={own}
        onChange={setOwn}
      />
      <Button
        type="submit"
        className="primary"
        label={words.token.act}
        disabled={name.trim() === '' || own.trim() === '' || write.isPending}
      />
      {write.error && <Failure of={write.error} />}
    </form>
  )
}

/** A new token, which is shown this once. */
export const TokenOnce = ({ name, token }: Made) => (
  <div className="stack token-once" role="status">
    <Text in="p">{words.token.once(name)}</Text>
    <Copied label={visible(words.token.of(name))} text={token} />
  </div>
)

type DialogProps = Pick<Props, 'base' | 'endpoints'> & { onClose: () => void }

export function NewToken({ base, endpoints, onClose }: DialogProps) {
  const [made, setMade] = useState<Made>()
  return (
    <Dialog
      title={words.token.make}
      onClose={onClose}
      foot={made && <Button className="primary" label={words.token.kept} onClick={onClose} />}
    >
      {made ? <TokenOnce {...made} /> : <TokenForm base={base} endpoints={endpoints} onMade={setMade} />}
    </Dialog>
  )
}
