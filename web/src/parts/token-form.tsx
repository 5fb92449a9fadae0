/**
 * Makes a token: whose, for what, with which rights. It is shown once. The token of a tab makes none that outlive it,
 * so that a stolen one leaves nothing behind: the person's own token is asked for, used once, and not kept.
 */
import { type FormEvent, useId, useState } from 'react'
import { pathOf, useWrite } from '../api/queries.ts'
import type { Grant, Kind } from '../api/session.ts'
import type { Endpoint } from '../api/shapes.ts'
import { words } from '../words.ts'
import { Button } from './button.tsx'
import { Copied } from './copied.tsx'
import { Dialog } from './dialog.tsx'
import { Failure } from './failure.tsx'
import { Select } from './select.tsx'
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

const PERMISSIONS = ['read', 'write', 'manage', 'admin'] as const
const DAYS = [30, 90, 365]

export function TokenForm({ base, endpoints, agentOf, onMade }: Props) {
  const [name, setName] = useState('')
  const [kind, setKind] = useState<Kind>('agent')
  const [endpoint, setEndpoint] = useState(agentOf ?? '')
  const [permission, setPermission] = useState<Grant['permission']>('write')
  const [environment, setEnvironment] = useState('production')
  const [days, setDays] = useState('')
  const [own, setOwn] = useState('')
  const write = useWrite<Made>(undefined)
  const id = useId()
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
  const choice = <T extends string>(
    label: string,
    value: T,
    options: Iterable<readonly [T, string]>,
    onChange: (value: T) => void,
  ) => (
    <>
      <label htmlFor={`${id}-${label}`}>{label}</label>
      <Select id={`${id}-${label}`} options={options} value={value} onChange={onChange} />
    </>
  )
  return (
    <form className="form-grid" onSubmit={submit}>
      <label htmlFor={id}>{words.token.name}</label>
      <input
        id={id}
        required
        maxLength={100}
        autoComplete="off"
        placeholder={words.token.nameHint}
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      {agentOf === undefined &&
        choice(words.token.kind, kind, Object.entries(words.token.kinds) as [Kind, string][], setKind)}
      {agentOf === undefined && choice(words.token.where, endpoint, placesFor(endpoints), setEndpoint)}
      {choice(
        words.token.may,
        permission,
        PERMISSIONS.filter((each) => endpoint === '' || each === 'read' || each === 'write').map(
          (each) => [each, words.token.permissions[each]] as const,
        ),
        setPermission,
      )}
      {endpoint === '' &&
        choice(
          words.token.environment,
          environment,
          Object.entries(words.token.environments),
          setEnvironment,
        )}
      {choice(
        words.token.ends,
        days,
        [
          ['', words.token.never] as const,
          ...DAYS.map((each) => [`${each}`, words.token.days(each)] as const),
        ],
        setDays,
      )}
      <label htmlFor={`${id}-own`}>{words.token.own}</label>
      <input
        id={`${id}-own`}
        type="password"
        autoComplete="off"
        placeholder="plt_…"
        required
        value={own}
        aria-describedby={`${id}-why`}
        onChange={({ target }) => setOwn(target.value)}
      />
      <p id={`${id}-why`} className="meta second">
        {words.token.ownHint}
      </p>
      <button
        type="submit"
        className="primary"
        disabled={name.trim() === '' || own.trim() === '' || write.isPending}
      >
        {words.token.act}
      </button>
      {write.error && <Failure of={write.error} />}
    </form>
  )
}

/** A new token, which is shown this once. */
export const TokenOnce = ({ name, token }: Made) => (
  <div className="token-once" role="status">
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
