/** Keys of all pages. They are silent in fields, and can be switched off. */
import { useEffect, useState } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { usePlaces } from '../parts/places.ts'
import { words } from '../words.ts'

const OFF = 'plinth.keys-off'
/** The second key of a pair comes within this time. */
const PAIR_MS = 1200

const isField = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/** A control with `data-key` is pressed by that key, a field gets the focus. */
export function usePageKeys(onPanel: (panel: 'jump' | 'keys') => void): void {
  useEffect(() => {
    let pair = Number.NEGATIVE_INFINITY
    const press = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        return onPanel('jump')
      }
      if (event.metaKey || event.ctrlKey || event.altKey || isField(event.target)) return
      if (localStorage.getItem(OFF) !== null || document.querySelector('dialog[open]')) return
      const isSecond = performance.now() - pair < PAIR_MS
      pair = event.key === 'g' ? performance.now() : Number.NEGATIVE_INFINITY
      if (!isSecond) {
        const target = document.querySelector<HTMLElement>(`[data-key="${CSS.escape(event.key)}"]:enabled`)
        if (event.key === '?') onPanel('keys')
        else if (target instanceof HTMLInputElement) target.focus()
        else if (target) target.click()
        else if (event.key === '/') onPanel('jump')
        else return
        return event.preventDefault()
      }
      const page = event.key === 'r' ? '[data-type]' : `[data-page="${CSS.escape(event.key)}"]`
      const address = document.querySelector(`.side ${page}`)?.getAttribute('href')
      if (address) navigate(address)
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [onPanel])
}

/** A key of the page in sight; with `Ctrl` also in fields, and where the others are switched off. */
export function useKey(key: string, act: () => void, isCtrl = false): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const isPlain = !event.altKey && !isField(event.target) && localStorage.getItem(OFF) === null
      if (event.key !== key || (event.metaKey || event.ctrlKey) !== isCtrl || !(isCtrl || isPlain)) return
      if (!document.querySelector('dialog[open]')) act()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [key, act, isCtrl])
}

export function Keys({ base, onClose }: { base: string; onClose: () => void }) {
  const [jump, ...rest] = words.keys.list
  const pages = usePlaces(base).map(({ key, name }) => [`g ${key}`, name] as const)
  const all = [jump, ...pages, ['g r', words.nav.records] as const, ...rest]
  const [isOff, setOff] = useState(localStorage.getItem(OFF) !== null)
  const change = () => {
    if (isOff) localStorage.removeItem(OFF)
    else localStorage.setItem(OFF, '1')
    setOff(!isOff)
  }
  return (
    <Dialog
      title={words.nav.keys}
      onClose={onClose}
      foot={<Button label={isOff ? words.keys.on : words.keys.off} onClick={change} />}
    >
      <dl className="stack facts">
        {all.map(([key, text]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
