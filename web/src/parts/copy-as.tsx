/** What is shown, for programs: each text is copied by its name. */
import { words } from '../words.ts'
import { Menu } from './menu.tsx'
import { say } from './toast.tsx'

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
