/** What is taken along: a text to be copied whole, such as a token, and what is shown, for programs. */
import { useRef, useState } from 'react'
import { words } from '../words.ts'
import { say } from './answer.tsx'
import { Button } from './button.tsx'
import { Menu } from './menu.tsx'

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
    <div className="stack copied">
      {/* biome-ignore lint/a11y/useSemanticElements: a group of fields is no box of text */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls is reached by the keys */}
      <pre ref={box} className="box sunken" tabIndex={0} role="group" aria-label={label}>
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

export function CopyAs({ texts }: { texts: Readonly<Record<string, string>> }) {
  return (
    <Menu
      className="quiet wide-only"
      shortcut="y"
      icon="copy"
      label={words.copyAs}
      items={Object.entries(texts).map(([label, text]) => ({
        label,
        onSelect: () => void navigator.clipboard.writeText(text).then(() => say(words.copiedAs(label))),
      }))}
    />
  )
}

const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** A command of a shell that sends a request, with a body where there is one. */
export function curlOf(path: string, body?: object, accept?: string): string {
  const sent = body && [`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body))}`]
  return [
    `curl -sS ${quoted(location.origin + path)} -H "Authorization: Bearer $TOKEN"`,
    ...(accept === undefined ? [] : [`-H 'Accept: ${accept}'`]),
    ...(sent ?? []),
  ].join(' ')
}
