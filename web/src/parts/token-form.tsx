/**
 * Makes a token: whose, for what, with which rights. It is shown once. The token of a tab makes none that outlive it,
 * so that a stolen one leaves nothing behind: the person's own token is asked for, used once, and not kept.
 */
import { type FormEvent, useState } from 'react'
import { type Endpoint, pathOf, useWrite } from '../api/queries.ts'
import { words } from '../words.ts'
import { Failure } from './answer.tsx'
import { Button } from './button.tsx'
import { Copied } from './copied.tsx'
import { Dialog } from './dialog.tsx'
import { type Field, Fields } from './fields.tsx'
import { DAY, Text, timeNow, visible } from './text.tsx'

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

const PERMISSIONS = Object.entries(words.token.permissions)
const ENDS = [
  ['', words.token.never],
  ...[30, 90, 365].map((each) => [`${each}`, words.token.days(each)] as const),
] as const
const FIRST = { name: '', kind: 'agent', permission: 'write', environment: 'production', days: '', own: '' }

export function TokenForm({ base, endpoints, agentOf, onMade }: Props) {
  const [draft, setDraft] = useState({ ...FIRST, endpoint: agentOf ?? '' })
  const { name, kind, endpoint, permission, environment, days, own } = draft
  const isAsked = agentOf === undefined
  const isWhole = endpoint === ''
  const write = useWrite<Made>(undefined)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const reach = isWhole ? { record_type: '*' } : { endpoint }
    const body = {
      name: name.trim(),
      kind,
      grants: [{ base, ...reach, environment, permission }],
      ...(days !== '' && { expires_at: new Date(timeNow() + Number(days) * DAY).toISOString() }),
    }
    write.send('POST', pathOf(['tokens']), body, onMade, { authorization: `Bearer ${own.trim()}` })
  }
  const text = words.token
  const fields: readonly (Field<keyof typeof draft> | false)[] = [
    { name: 'name', label: text.name, required: true, maxLength: 100, placeholder: text.nameHint },
    isAsked && { name: 'kind', label: text.kind, options: Object.entries(text.kinds) },
    isAsked && { name: 'endpoint', label: text.where, options: placesFor(endpoints) },
    { name: 'permission', label: text.may, options: isWhole ? PERMISSIONS : PERMISSIONS.slice(0, 2) },
    isWhole && { name: 'environment', label: text.environment, options: Object.entries(text.environments) },
    { name: 'days', label: text.ends, options: ENDS },
    {
      name: 'own',
      label: text.own,
      hint: text.ownHint,
      type: 'password',
      placeholder: 'plt_…',
      required: true,
    },
  ]
  return (
    <form className="form-grid" onSubmit={submit}>
      <Fields of={fields} draft={draft} onChange={setDraft} />
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
