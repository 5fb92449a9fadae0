/** Authors: agents are squares, people circles, programs diamonds, so that they are told apart without reading. */
import { Fragment } from 'react'
import type { Kind } from '../api/session.ts'
import { words } from '../words.ts'
import { Icon } from './button.tsx'
import { Text, Time } from './text.tsx'

type Author = { name: string; kind?: Kind | undefined }

export function Shape({ name, kind = 'program' }: Author) {
  return (
    <span className={`shape ${kind}`} title={words.kinds[kind]}>
      <span aria-hidden="true">{kind === 'agent' ? <Icon name="agents" /> : initials(name)}</span>
      <span className="hidden">{words.kinds[kind]}</span>
    </span>
  )
}

export const Who = ({ name, kind }: Author) => (
  <span className="who">
    <Shape name={name} kind={kind} />
    <Text>{name}</Text>
  </span>
)

/** Whose changes an undo takes back, and since when. */
export const DoneSince = ({ at, ...author }: Author & { at: number }) => (
  <>
    <Who {...author} /> {words.undo.since} <Time at={at} />
  </>
)

/** Who proposed what came with a change-set. */
export const ProposedBy = ({ by }: { by: readonly { token_id: string | null; name: string }[] }) => (
  <>
    {words.proposedBy}{' '}
    {by.map(({ token_id, name }, at) => (
      <Fragment key={`${token_id} ${name}`}>
        {at > 0 && ', '}
        <Text in="strong">{name}</Text>
      </Fragment>
    ))}
  </>
)

/** Of people two letters, of programs one. */
const initials = (name: string): string =>
  name
    .split(/\s+/)
    .slice(0, 2)
    .map((word) => [...word][0] ?? '')
    .join('')
    .toUpperCase()
