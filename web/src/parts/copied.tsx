/** What is taken along: a text to be copied whole, such as a token, and what is shown, for programs. */
import { useRef, useState } from 'react'
import { request } from '../api/send.ts'
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

/** Saves a content under its name, or the rows that a query answers. */
export async function saveAs(name: string, address: string, query?: object): Promise<void> {
  const init = query && { headers: { accept: CSV } }
  const blob = await (await request(query ? 'POST' : 'GET', address, query, init)).blob()
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}
const CSV = 'text/csv'

type Copies = {
  texts: Readonly<Record<string, string>>
  /** The request for all rows that are shown, and the name of their file. */
  rows?: { path: string; body: object; name: string }
}

export function CopyAs({ texts, rows }: Copies) {
  const ofRows = rows && { [words.copies.csv]: curlOf(rows.path, rows.body, CSV) }
  const save = ({ name, path, body }: NonNullable<typeof rows>) =>
    void saveAs(`${name}.csv`, path, body).catch((error: Error) => say(error.message))
  return (
    <Menu
      className="quiet wide-only"
      shortcut="y"
      icon="copy"
      label={words.copyAs}
      items={[
        ...Object.entries({ ...texts, ...ofRows }).map(([label, text]) => ({
          label,
          onSelect: () => void navigator.clipboard.writeText(text).then(() => say(words.copiedAs(label))),
        })),
        ...(rows ? [{ label: words.copies.save, onSelect: () => save(rows) }] : []),
      ]}
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
