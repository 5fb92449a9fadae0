/** Two versions of the record, field by field. */
import { Link } from 'wouter'
import { changed as searchChanged } from '../../addresses.ts'
import { ChangesInTable, differences } from '../../parts/diff.tsx'
import { pendingOf } from '../../parts/failure.tsx'
import { words } from '../../words.ts'
import { type Place, useVersion } from './load.ts'

const WHOLE = 4000

export function Comparison({ place, one, other }: { place: Place; one: number; other: number }) {
  const [first, last] = [Math.min(one, other), Math.max(one, other)]
  const before = useVersion(place, first)
  const after = useVersion(place, last)
  const pending = pendingOf(before, 6) ?? pendingOf(after, 6)
  const changes = differences(before.data?.data ?? {}, after.data?.data ?? {})
  return (
    <section aria-label={words.record.compared(first, last)}>
      <header className="amber chips past">
        <h2>{words.record.compared(first, last)}</h2>
        <Link href={location.pathname + searchChanged(location.search, { vs: undefined })}>
          {words.record.end}
        </Link>
      </header>
      {pending ??
        (changes.length === 0 ? (
          <p className="note">{words.record.same}</p>
        ) : (
          <ChangesInTable changes={changes} most={WHOLE} />
        ))}
    </section>
  )
}
