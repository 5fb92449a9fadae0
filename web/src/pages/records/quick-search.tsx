/** The search of words. */
import { useEffect, useState } from 'react'
import type { RecordType } from '../../api/shapes.ts'
import { searchOf } from '../../parts/record-types.ts'
import type { Change } from '../../parts/search.ts'
import { words } from '../../words.ts'

const PAUSE_MS = 250

/** Searches while one types where an index makes it quick, else on Enter. */
export function QuickSearch({ type, q, onChange }: { type: RecordType; q: string; onChange: Change }) {
  const [typed, setTyped] = useState(q)
  const [of, setOf] = useState(q)
  if (of !== q) {
    setOf(q)
    if (typed.trim() !== q) setTyped(q)
  }
  const isQuick = searchOf(type) !== undefined
  useEffect(() => {
    if (!isQuick || typed.trim() === q) return
    const wait = setTimeout(
      () => onChange({ q: typed.trim() || undefined, view: undefined }, q !== ''),
      PAUSE_MS,
    )
    return () => clearTimeout(wait)
  }, [isQuick, typed, q, onChange])
  return (
    <search>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          onChange({ q: typed.trim() || undefined })
        }}
      >
        <input
          type="search"
          data-key="/"
          aria-label={words.records.search}
          placeholder={isQuick ? words.records.search : words.records.searchOnEnter}
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
        />
      </form>
    </search>
  )
}
