import { Link } from 'wouter'
import { to } from '../../addresses.ts'
import { Empty } from '../../parts/failure.tsx'
import { words } from '../../words.ts'
import type { Place } from './load.ts'

export const Gone = ({ place: { base, type }, plural }: { place: Place; plural: string }) => (
  <Empty title={words.record.gone}>
    <span className="chips">
      <Link href={to.records(base, type)}>{words.record.toList(plural)}</Link>
      <Link href={to.records(base, type, { view: 'deleted' })}>{words.record.deleted(plural)}</Link>
    </span>
  </Empty>
)
