/** Views: those that the schema suggests, and those that a person keeps in this browser. */
import { useState } from 'react'
import { parse, print, type Search } from '../../addresses.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Text } from '../../parts/text.tsx'
import { words } from '../../words.ts'
import { type View, viewsOf } from './filter.ts'
import type { Listing } from './load.ts'

/** What a view keeps of the address. The first three say which view it is. */
const KEPT = ['filter', 'q', 'view', 'sort', 'cols', 'chart'] as const

export function Views({ of: { base, type, search, change } }: { of: Listing }) {
  const place = `plinth.views.${base}.${type.id}`
  const [own, setOwn] = useState(() => kept(place))
  const [isSaving, setSaving] = useState(false)
  const suggested = viewsOf(type, words.records.views)
  const isNow = (view: View) => print(whichOf(view.search)) === print(whichOf(search))
  const isFirst = print(whichOf(search)) === ''
  const keep = (views: View[]) => {
    localStorage.setItem(place, JSON.stringify(views))
    setOwn(views)
  }
  const show = (view: View) => change({ ...whichOf({}), ...view.search })
  const current = own.find(isNow)
  return (
    <div className="views">
      <fieldset className="segments" aria-label={words.records.viewsName}>
        {[...suggested, ...own].map((view, at) => (
          <Button
            key={view.name + print(view.search)}
            label={<Text>{view.name}</Text>}
            aria-pressed={isNow(view) || (isFirst && at === 0)}
            onClick={() => show(view)}
          />
        ))}
        <Button
          icon="plus"
          aria-label={words.records.saveView}
          title={words.records.saveView}
          onClick={() => setSaving(true)}
        />
      </fieldset>
      {current && (
        <Button
          className="quiet"
          label={words.records.removeView}
          onClick={() => keep(own.filter((view) => view !== current))}
        />
      )}
      {isSaving && (
        <SaveView
          onClose={() => setSaving(false)}
          onSave={(name) => {
            const shown = isFirst ? { ...suggested[0]?.search } : parse(print(partsOf(search)))
            keep([...own.filter((view) => view.name !== name), { name, search: shown }])
            setSaving(false)
          }}
        />
      )}
    </div>
  )
}

const whichOf = ({ filter, q, view }: Search): Search => ({ filter, q, view })
const partsOf = (search: Search): Search => Object.fromEntries(KEPT.map((name) => [name, search[name]]))

function kept(place: string): View[] {
  try {
    const read: unknown = JSON.parse(localStorage.getItem(place) ?? '[]')
    return Array.isArray(read)
      ? read.filter((each): each is View => typeof each?.name === 'string' && typeof each.search === 'object')
      : []
  } catch {
    return []
  }
}

function SaveView({ onClose, onSave }: { onClose: () => void; onSave: (name: string) => void }) {
  const [name, setName] = useState('')
  const save = () => onSave(name.trim())
  return (
    <Dialog
      title={words.records.saveView}
      onClose={onClose}
      act={{ label: words.records.keepView, isReady: name.trim() !== '', onSelect: save, isForm: true }}
    >
      <label>
        {words.token.name}
        <input value={name} maxLength={40} onChange={({ target }) => setName(target.value)} />
      </label>
      <p className="note">{words.records.viewHint}</p>
    </Dialog>
  )
}
