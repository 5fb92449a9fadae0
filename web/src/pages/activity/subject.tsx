import { Link } from 'wouter'
import { to } from '../../addresses.ts'
import type { Change } from '../../api/shapes.ts'
import { ChangesInLine, changesOf } from '../../parts/diff.tsx'
import { shortened } from '../../parts/record-types.ts'
import { Text } from '../../parts/text.tsx'
import { words } from '../../words.ts'

/** What a change is of: a record by its title, which leads to it, or the name of another resource. */
function Subject({ base, change }: { base: string; change: Change }) {
  const { kind, record_type: type, id, title } = change
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
