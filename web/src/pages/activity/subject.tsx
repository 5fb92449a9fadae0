import { Link } from 'wouter'
import { to } from '../../addresses.ts'
import type { Change } from '../../api/shapes.ts'
import { Arrow, ChangesInLine, changesOf } from '../../parts/diff.tsx'
import { TextLink } from '../../parts/link.tsx'
import { wholeIn } from '../../parts/proposal.ts'
import { MADE_ID, shortened } from '../../parts/record-types.ts'
import { fieldName, Text } from '../../parts/text.tsx'
import { words } from '../../words.ts'

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

type Props = { base: string; changes: readonly Change[]; most?: number }

export const Subjects = ({ base, changes, most = 4 }: Props) => (
  <ul className="pairs">
    {changes.map((change) => (
      <li key={change.seq}>
        <Subject base={base} change={change} />
        <span>
          {change.operation !== 'update' && <span className="note">{words.verbs[change.operation]} </span>}
          <ChangesInLine changes={changesOf(change.diff)} most={most} />
        </span>
      </li>
    ))}
  </ul>
)
