/** A text to be copied whole: a token, settings of a client. */
import { useRef, useState } from 'react'
import { words } from '../words.ts'
import { Button } from './button.tsx'

export function Copied({ text, label }: { text: string; label: string }) {
  const box = useRef<HTMLPreElement>(null)
  const [isDone, setDone] = useState(false)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setDone(true)
    } catch {
      // The clipboard is closed to pages without TLS: the text is selected, for the keys.
      if (box.current) getSelection()?.selectAllChildren(box.current)
    }
  }
  return (
    <div className="copied">
      {/* biome-ignore lint/a11y/useSemanticElements: a group of fields is no box of text */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls is reached by the keys */}
      <pre ref={box} tabIndex={0} role="group" aria-label={label}>
        {text}
      </pre>
      <Button
        icon="copy"
        label={<span role="status">{isDone ? words.copied : words.copy}</span>}
        onClick={() => void copy()}
      />
    </div>
  )
}
