/** A button with a menu, by the ARIA pattern: arrows move, `Esc` closes, a letter jumps. */
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { words } from '../words.ts'
import { Icon, type IconName } from './button.tsx'

type Item = {
  label: ReactNode
  onSelect: () => void
  isOn?: boolean | undefined
  note?: string | undefined
}
type Props = {
  label: ReactNode
  icon?: IconName
  /** For a button that has no word in some widths; it holds the words of the others. */
  name?: string
  items: readonly Item[]
  /** The key that opens it. */
  shortcut?: string
  className?: string
  /** Above the items, such as a field of text. */
  children?: ReactNode
}

export function Menu({ label, icon, name, items, shortcut, className = 'quiet', children }: Props) {
  const id = useId()
  const panel = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    const element = panel.current
    if (!element || !isOpen) return
    place(element, button.current)
    element.querySelector<HTMLElement>('input, [aria-checked=true], [role^=menuitem]')?.focus()
  }, [isOpen])
  const close = () => panel.current?.hidePopover()
  return (
    <>
      <button
        ref={button}
        type="button"
        className={className}
        popoverTarget={id}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-label={name}
        data-key={shortcut}
      >
        {icon && <Icon name={icon} />} {label}
      </button>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the items within */}
      <div
        ref={panel}
        id={id}
        popover="auto"
        className="menu"
        onToggle={({ newState }) => setOpen(newState === 'open')}
        onKeyDown={(event) => move(event, panel.current)}
      >
        {isOpen && (
          <>
            {children}
            <div role="menu" aria-label={name ?? words.choices}>
              {items.map(({ label: text, onSelect, isOn, note }, at) => (
                // biome-ignore lint/a11y/useAriaPropsSupportedByRole: a radio item has it, a plain one leaves it out
                <button
                  // biome-ignore lint/suspicious/noArrayIndexKey: the items of a menu keep their places
                  key={at}
                  type="button"
                  role={isOn === undefined ? 'menuitem' : 'menuitemradio'}
                  aria-checked={isOn}
                  tabIndex={-1}
                  onClick={() => {
                    close()
                    onSelect()
                  }}
                >
                  <span>{text}</span>
                  {note !== undefined && <span className="note">{note}</span>}
                </button>
              ))}
            </div>
          </>
        )}
      </div>
    </>
  )
}

type Option<Value> = readonly [value: Value, label: ReactNode, note?: string]

/** Items that stand for values; one of them is on where there is a choice so far. */
export const itemsOf = <Value,>(
  options: readonly Option<Value>[],
  onSelect: (value: Value) => void,
  chosen?: { is: NoInfer<Value> | undefined },
): Item[] =>
  options.map(([value, label, note]) => ({
    label,
    note,
    isOn: chosen && value === chosen.is,
    onSelect: () => onSelect(value),
  }))

/** Below the button, within the window. */
function place(panel: HTMLElement, button: HTMLElement | null): void {
  const at = button?.getBoundingClientRect()
  if (!at) return
  const { width, height } = panel.getBoundingClientRect()
  const isBelow = at.bottom + 4 + height <= innerHeight || at.top < height
  panel.style.left = `${Math.max(8, Math.min(at.left, document.documentElement.clientWidth - width - 8))}px`
  panel.style.top = `${isBelow ? at.bottom + 4 : at.top - 4 - height}px`
}

function move(event: KeyboardEvent, panel: HTMLElement | null): void {
  const items = [...(panel?.querySelectorAll<HTMLElement>('[role^=menuitem]') ?? [])]
  const at = items.indexOf(document.activeElement as HTMLElement)
  const isTyping = event.target instanceof HTMLInputElement
  const next = {
    ArrowDown: at + 1,
    ArrowUp: at < 0 ? items.length - 1 : at - 1,
    Home: 0,
    End: items.length - 1,
  }[event.key]
  if (next !== undefined && !(isTyping && (event.key === 'Home' || event.key === 'End'))) {
    event.preventDefault()
    items[(next + items.length) % items.length]?.focus()
  } else if (!isTyping && event.key.length === 1 && event.key !== ' ') {
    const named = ({ textContent }: HTMLElement) =>
      textContent?.toLowerCase().startsWith(event.key.toLowerCase()) === true
    const found = items.slice(at + 1).find(named) ?? items.find(named)
    found?.focus()
  }
  // A key of the menu is none of the page.
  event.stopPropagation()
}
