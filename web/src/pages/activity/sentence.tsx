/** What a row says: who did what to which records, as a sentence, and the records one by one. */
import { Link } from 'wouter'
import { to } from '../../addresses.ts'
import type { Change, Count, RecordType } from '../../api/shapes.ts'
import { Arrow, ChangesInLine, changesOf } from '../../parts/diff.tsx'
import { TextLink } from '../../parts/link.tsx'
import { wholeIn } from '../../parts/proposal.ts'
import { counted, MADE_ID, shortened } from '../../parts/record-types.ts'
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
  if (group?.title != null && row.count === 1 && only && group.id != null) {
    const { kind, record_type: type, operation } = only
    const title = <Text>{shortened(group.title)}</Text>
    const address = addressOf(base, { kind, type, id: group.id })
    return (
      <>
        {verbOf(only)} {(operation !== 'update' || type === null) && `${fieldName(type ?? kind)} `}
        {address === undefined || operation === 'delete' ? (
          <span className="ink medium">{title}</span>
        ) : (
          <Link href={address} className="ink medium">
            {title}
          </Link>
        )}
      </>
    )
  }
  // The time is the way of the keyboard.
  const open =
    onOpen && ({ type: 'button', tabIndex: -1, className: 'bare author', onClick: onOpen } as const)
  const shown = row.by.slice(0, 3)
  const rest = row.by.slice(3).reduce((sum, { count }) => sum + count, 0)
  return (
    <>
      {shown.map((each, at) => (
        <span key={`${each.kind} ${each.record_type} ${each.operation}`}>
          {at > 0 && (at === shown.length - 1 && rest === 0 ? ` ${words.and} ` : ', ')}
          {verbOf(each)} {open ? <button {...open}>{objectOf(each, types)}</button> : objectOf(each, types)}
        </span>
      ))}
      {rest > 0 && ` ${words.andMore(rest)}`}
    </>
  )
}

const objectOf = ({ count, kind, record_type: type }: Count, types: readonly RecordType[]) => (
  <strong>{kind === 'relationship' ? words.countOfRecords(count) : counted(count, types, type, kind)}</strong>
)

/** What a change is of: a record by its title, which leads to it, the ends of a link, or the name of another resource. */
function Subject({ base, change }: { base: string; change: Change }) {
  const { kind, record_type: type, id, title, diff } = change
  const link = kind === 'relationship' ? wholeIn(diff) : undefined
  if (link) {
    const end = (of: 'source' | 'target') => {
      const [linked, record] = [String(link[`${of}_record_type`]), String(link[`${of}_id`])]
      const text = MADE_ID.test(record) ? fieldName(linked) : record
      return <TextLink href={to.record(base, linked, record)} text={text} />
    }
    return (
      <span>
        <Text className="meta">{fieldName(String(link['rel_type']))}</Text> {end('source')} <Arrow />{' '}
        {end('target')}
      </span>
    )
  }
  const name = <Text>{title ? shortened(title) : id}</Text>
  return kind === 'record' && type !== null ? <Link href={to.record(base, type, id)}>{name}</Link> : name
}

type SubjectsProps = { base: string; changes: readonly Change[]; most?: number }

export const Subjects = ({ base, changes, most = 4 }: SubjectsProps) => (
  <ul className="pairs">
    {changes.map((change) => (
      <li key={change.seq} className="stack gap-3 py-1 ruled">
        <Subject base={base} change={change} />
        <span>
          {change.operation !== 'update' && <span className="note">{words.verbs[change.operation]} </span>}
          <ChangesInLine changes={changesOf(change.diff)} most={most} />
        </span>
      </li>
    ))}
  </ul>
)
