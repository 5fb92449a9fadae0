/** The list for programs: the query, a command, a table. */
import { pathOf } from '../../api/send.ts'
import { Icon } from '../../parts/icon.tsx'
import { Menu } from '../../parts/menu.tsx'
import { say } from '../../parts/toast.tsx'
import { words } from '../../words.ts'

export function CopyAs({ base, type, body }: { base: string; type: string; body: object }) {
  const { copies } = words.records
  const query = JSON.stringify(body, null, 2)
  const address = location.origin + pathOf([base, 'records', type, 'query'])
  const curl = (accept: string, sent: string) =>
    `curl -sS '${address}' -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -H 'Accept: ${accept}' -d '${sent.replaceAll("'", String.raw`'\''`)}'`
  const texts = {
    [copies.query]: query,
    [copies.curl]: curl('application/json', JSON.stringify(body)),
    [copies.csv]: curl('text/csv', JSON.stringify({ ...body, limit: 'all' })),
    [copies.link]: location.href,
  }
  return (
    <Menu
      className="quiet wide-only"
      label={
        <>
          <Icon name="copy" /> {words.record.copyAs}
        </>
      }
      items={Object.entries(texts).map(([label, text]) => ({
        label,
        onSelect: () => void navigator.clipboard.writeText(text).then(() => say(words.record.copied(label))),
      }))}
    />
  )
}
