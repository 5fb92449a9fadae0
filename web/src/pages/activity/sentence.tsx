/** What a row says: who did what to which records, as a sentence. */
import { Link } from 'wouter'
import { to } from '../../addresses.ts'
import type { Count, RecordType } from '../../api/shapes.ts'
import { counted, shortened } from '../../parts/record-types.ts'
import { fieldName, Text } from '../../parts/text.tsx'
import { words } from '../../words.ts'
import type { Folded } from './fold.ts'

/** Where a person sees what was changed. */
const addressOf = (base: string, { kind, type, id }: { kind: string; type: string | null; id: string }) =>
  type !== null
    ? to.record(base, type, id)
    : kind === 'record_type'
      ? to.types(base, id)
      : kind === 'endpoint'
        ? to.endpoint(base, id)
        : /^(trigger|inbound_webhook|action)$/.test(kind)
          ? to.automation(base, { kind, id })
          : undefined

const verbOf = ({ kind, operation }: Count): string =>
  kind === 'relationship' ? words.linkVerbs[operation] : words.verbs[operation]

/** "created 2 messages, changed 3 tickets and linked 4 records". */
type Props = { base: string; row: Folded; types: readonly RecordType[]; onOpen?: () => void }

export function Sentence({ base, row, types, onOpen }: Props) {
  const [group] = row.groups
  const [only] = row.by
  if (group?.title != null && row.count === 1 && only && group.id !== undefined) {
    const { kind, record_type: type, operation } = only
    const title = <Text>{shortened(group.title)}</Text>
    const address = addressOf(base, { kind, type, id: group.id })
    return (
      <>
        {verbOf(only)} {(operation !== 'update' || type === null) && `${fieldName(type ?? kind)} `}
        {address === undefined || operation === 'delete' ? (
          <span className="subject">{title}</span>
        ) : (
          <Link href={address} className="subject">
            {title}
          </Link>
        )}
      </>
    )
  }
  // The time is the way of the keyboard.
  const open = onOpen && ({ type: 'button', tabIndex: -1, className: 'author', onClick: onOpen } as const)
  const shown = row.by.slice(0, 3)
  const rest = row.by.slice(3).reduce((sum, { count }) => sum + count, 0)
  return (
    <>
      {shown.map((each, at) => (
        <span key={`${each.kind} ${each.record_type} ${each.operation}`}>
          {at > 0 && (at === shown.length - 1 && rest === 0 ? ` ${words.and} ` : ', ')}
          {verbOf(each)}{' '}
          {open ? (
            <button {...open}>{objectOf(each, types)}</button>
          ) : (
            <strong>{objectOf(each, types)}</strong>
          )}
        </span>
      ))}
      {rest > 0 && ` ${words.andMore(rest)}`}
    </>
  )
}

const objectOf = ({ count, kind, record_type }: Count, types: readonly RecordType[]) =>
  kind === 'relationship' ? words.countOfRecords(count) : counted(count, types, record_type, kind)
