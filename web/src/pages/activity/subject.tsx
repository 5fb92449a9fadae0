import { Link } from 'wouter'
import { to } from '../../addresses.ts'
import type { Change } from '../../api/shapes.ts'
import { Text } from '../../parts/plain-text.tsx'
import { shortened } from '../../parts/record-types.ts'

/** What a change is of: a record by its title, which leads to it, or the name of another resource. */
export function Subject({ base, change }: { base: string; change: Change }) {
  const { kind, record_type: type, id, title } = change
  const name = <Text>{title ? shortened(title) : id}</Text>
  return kind === 'record' && type !== null ? <Link href={to.record(base, type, id)}>{name}</Link> : name
}
