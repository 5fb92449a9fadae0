/** The jump: type a few letters of a page, a record type or a record, and go there. */
import { type KeyboardEvent, useDeferredValue, useEffect, useId, useRef, useState } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { to } from '../addresses.ts'
import { useAsk, useTypes } from '../api/queries.ts'
import { pathOf } from '../api/send.ts'
import type { Page, RecordType, Row } from '../api/shapes.ts'
import { words } from '../words.ts'
import { placesOf } from './places.ts'
import { Text } from './plain-text.tsx'
import { pluralOf, searchOf, titleOf } from './record-types.ts'

type Target = { label: string; note: string; address: string }

export function Jump({ base, onClose }: { base: string; onClose: () => void }) {
  const element = useRef<HTMLDialogElement>(null)
  const list = useId()
  const [typed, setTyped] = useState('')
  const [at, setAt] = useState(0)
  const asked = useDeferredValue(typed.trim())
  const types = useTypes(base).data ?? []
  const records = useFound(base, types, asked)
  useEffect(() => {
    element.current?.showModal()
  }, [])
  const isLike = ({ label }: Target) => label.toLowerCase().includes(typed.trim().toLowerCase())
  const targets = [
    ...pagesOf(base).filter(isLike),
    ...types.map((each) => typeTarget(base, each)).filter(isLike),
    ...records,
  ]
  const chosen = targets[Math.min(at, targets.length - 1)]
  const go = (target: Target | undefined) => {
    if (!target) return
    element.current?.close()
    if (target.address.startsWith('/graphql')) location.assign(target.address)
    else navigate(target.address)
  }
  const keys = (event: KeyboardEvent) => {
    if (event.key === 'Enter') go(chosen)
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
      onClick={({ target }) => target === element.current && element.current.close()}
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

const pagesOf = (base: string): Target[] => [
  ...placesOf(base).map(({ name, address }) => ({ label: name, note: words.page, address })),
  { label: words.nav.graphql, note: words.page, address: to.playground(base) },
]

const typeTarget = (base: string, type: RecordType): Target => ({
  label: pluralOf(type),
  note: words.recordType,
  address: to.records(base, type.id),
})

/** Records of the first types whose texts have the words. */
function useFound(base: string, types: readonly RecordType[], asked: string): Target[] {
  const isWord = asked.length >= 2
  const [one, two, three] = types.filter(searchOf)
  const found = [
    useRecords(base, one, isWord ? asked : ''),
    useRecords(base, two, isWord ? asked : ''),
    useRecords(base, three, isWord ? asked : ''),
  ]
  return found.flat()
}

function useRecords(base: string, type: RecordType | undefined, asked: string): Target[] {
  const body = { filter: { field: (type && searchOf(type)) ?? 'data', op: 'search', value: asked }, limit: 5 }
  const path = pathOf([base, 'records', type?.id ?? '', 'query'])
  const answer = useAsk<Page<Row>>(path, body, { enabled: type !== undefined && asked !== '' })
  if (!type || asked === '') return []
  return (answer.data?.data ?? []).map((row) => ({
    label: titleOf(row, type),
    note: type.name ?? type.id,
    address: to.record(base, type.id, row.id),
  }))
}
