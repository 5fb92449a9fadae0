/** The jump: type a few letters of a page, a record type or a record, and go there. */
import { useQueries } from '@tanstack/react-query'
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { to } from '../addresses.ts'
import { asking, pathOf, useRecordCounts, useTypes } from '../api/queries.ts'
import type { Page, RecordType, Row } from '../api/shapes.ts'
import { words } from '../words.ts'
import { type Place, usePlaces } from './places.ts'
import { MADE_ID, nameOf, pluralOf, searchFor, searchOf, titleOf } from './record-types.ts'
import { Text } from './text.tsx'

type Target = { label: string; note: string; address: string }

export function Jump({ base, onClose }: { base: string; onClose: () => void }) {
  const element = useRef<HTMLDialogElement>(null)
  const list = useId()
  const [typed, setTyped] = useState('')
  const [at, setAt] = useState(0)
  const asked = useSettled(typed.trim())
  const types = useTypes(base).data ?? []
  const records = useFound(base, types, asked)
  const places = usePlaces(base)
  useEffect(() => {
    element.current?.showModal()
  }, [])
  const isLike = ({ label }: Target) => label.toLowerCase().includes(typed.trim().toLowerCase())
  const targets = [
    ...pagesOf(base, places).filter(isLike),
    ...types.map((each) => typeTarget(base, each)).filter(isLike),
    ...records,
  ]
  const chosen = targets[Math.min(at, targets.length - 1)]
  const close = () => {
    element.current?.close()
    // The event comes later, and would close a jump that was asked for in between.
    onClose()
  }
  const go = (target: Target | undefined) => {
    if (!target) return
    close()
    if (target.address.startsWith('/graphql')) location.assign(target.address)
    else navigate(target.address)
  }
  const keys = (event: KeyboardEvent) => {
    if (event.key === 'Enter') go(chosen)
    else if (event.key === 'Escape') close()
    else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      const step = event.key === 'ArrowDown' ? 1 : -1
      setAt((Math.min(at, targets.length - 1) + step + targets.length) % Math.max(1, targets.length))
    } else return
    event.preventDefault()
  }
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Esc closes a dialog by itself
    <dialog
      ref={element}
      className="jump"
      aria-label={words.jump}
      onClose={onClose}
      onClick={({ target }) => target === element.current && close()}
    >
      <input
        role="combobox"
        aria-expanded="true"
        aria-controls={list}
        aria-activedescendant={chosen && `${list}-${targets.indexOf(chosen)}`}
        aria-label={words.jump}
        placeholder={words.jumpHint}
        value={typed}
        onChange={({ target }) => {
          setTyped(target.value)
          setAt(0)
        }}
        onKeyDown={keys}
      />
      <div id={list} role="listbox" aria-label={words.choices} className="jump-list">
        {targets.map((target, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys of the list
          <div
            key={target.address}
            id={`${list}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={target === chosen}
            onClick={() => go(target)}
          >
            <Text>{target.label}</Text>
            <span className="note">{target.note}</span>
          </div>
        ))}
        {targets.length === 0 && <p className="note">{words.nothingFound}</p>}
      </div>
    </dialog>
  )
}

const pagesOf = (base: string, places: readonly Place[]): Target[] => [
  ...places.map(({ name, address }) => ({ label: name, note: words.page, address })),
  { label: words.nav.graphql, note: words.page, address: to.playground(base) },
]

const typeTarget = (base: string, type: RecordType): Target => ({
  label: pluralOf(type),
  note: words.recordType,
  address: to.records(base, type.id),
})

/** Between two letters of a word. */
const SETTLE_MS = 150

/** A text that nobody types on: each would search several types. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), SETTLE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}

/** Without a text index, a search reads each record of a type: 0.1 s for so many. */
const MOST_UNINDEXED = 20_000

/** Records of the first types whose texts have the words, or whose id begins so. */
function useFound(base: string, types: readonly RecordType[], asked: string): Target[] {
  const counts = useRecordCounts(base, types)
  const isSmall = ({ id }: RecordType) => (counts[id] ?? MOST_UNINDEXED) < MOST_UNINDEXED
  const searched = types.filter((type) => isSmall(type) || searchOf(type)).slice(0, 5)
  const answers = useQueries({
    queries: searched.map((type) => {
      const own = { field: 'id', op: 'ilike', value: `${asked.replace(/[\\%_]/g, '\\$&')}%` }
      const quick = searchFor(asked, searchOf(type))
      const body = { filter: isSmall(type) ? { or: [searchFor(asked), own] } : quick, limit: 5 }
      const path = pathOf([base, 'records', type.id, 'query'])
      return { ...asking<Page<Row>>(path, body), enabled: asked.length >= 2 }
    }),
  })
  return searched.flatMap((type, at) =>
    (answers[at]?.data?.data ?? []).map((row) => ({
      label: titleOf(row, type),
      note: MADE_ID.test(row.id) ? nameOf(type, type.id) : `${nameOf(type, type.id)} ${row.id}`,
      address: to.record(base, type.id, row.id),
    })),
  )
}
