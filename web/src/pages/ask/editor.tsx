/** A statement, and how the word at the caret may go on: arrows choose, Enter or Tab takes it, Esc leaves it. */
import { type KeyboardEvent, useId, useRef, useState } from 'react'
import { Text } from '../../parts/text.tsx'
import { words } from '../../words.ts'
import { type Completion, complete, type Relation, wordAt } from './relations.ts'

type Props = {
  sql: string
  relations: readonly Relation[]
  onChange: (sql: string) => void
  onAsk: () => void
}
const LINES = 4
const MOST_LINES = 16

export function Editor({ sql, relations, onChange, onAsk }: Props) {
  const field = useRef<HTMLTextAreaElement>(null)
  const list = useId()
  const [found, setFound] = useState<readonly Completion[]>([])
  const [at, setAt] = useState(0)
  const show = (next: readonly Completion[]) => {
    setFound(next)
    setAt(0)
  }
  const take = ({ text }: Completion) => {
    const element = field.current
    if (!element) return
    const end = element.selectionStart
    element.setSelectionRange(end - wordAt(sql.slice(0, end)).length, end)
    // As if it was typed: the browser keeps the way back.
    document.execCommand('insertText', false, text)
    show([])
  }
  const press = (event: KeyboardEvent) => {
    const { key } = event
    const chosen = found[at]
    if (key === 'Enter' && (event.ctrlKey || event.metaKey)) onAsk()
    else if (chosen && (key === 'Enter' || key === 'Tab')) take(chosen)
    else if (chosen && key === 'Escape') show([])
    else if (chosen && (key === 'ArrowDown' || key === 'ArrowUp'))
      setAt((at + (key === 'ArrowDown' ? 1 : -1) + found.length) % found.length)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <div className="ask-editor">
      <textarea
        ref={field}
        className="code"
        aria-label={words.ask.statement}
        aria-autocomplete="list"
        aria-controls={list}
        aria-activedescendant={found.length > 0 ? `${list}-${at}` : undefined}
        spellCheck={false}
        autoCapitalize="off"
        rows={Math.min(MOST_LINES, Math.max(LINES, sql.split('\n').length + 1))}
        placeholder={words.ask.placeholder}
        value={sql}
        onChange={({ target }) => {
          onChange(target.value)
          show(complete(target.value, target.selectionStart, relations))
        }}
        onKeyDown={press}
        onBlur={() => show([])}
      />
      <div
        id={list}
        role="listbox"
        aria-label={words.ask.completions}
        className="floating ask-list"
        hidden={found.length === 0}
      >
        {found.map((each, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys of the list
          <div
            key={each.text}
            id={`${list}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            // The field keeps the focus.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => take(each)}
          >
            <Text>{each.text}</Text> <span className="note">{words.ask.kinds[each.kind]}</span>
          </div>
        ))}
      </div>
    </div>
  )
}
