/** The record for programs: as JSON, as a command, as an address. */
import { pathOf } from '../../api/send.ts'
import type { Row } from '../../api/shapes.ts'
import { Icon } from '../../parts/icon.tsx'
import { Menu } from '../../parts/menu.tsx'
import { say } from '../../parts/toast.tsx'
import { words } from '../../words.ts'
import { type Place, recordPath } from './load.ts'

export function CopyAs({ place, row }: { place: Place; row: Row }) {
  const { copies } = words.record
  const address = location.origin + pathOf(recordPath(place))
  const texts = {
    [copies.json]: JSON.stringify(row, null, 2),
    [copies.curl]: `curl -sS '${address.replaceAll("'", '%27')}' -H "Authorization: Bearer $TOKEN"`,
    [copies.link]: location.href,
    [copies.id]: row.id,
  }
  return (
    <Menu
      label={
        <>
          <Icon name="copy" />
          <span className="wide-only">{words.record.copyAs}</span>
        </>
      }
      name={words.record.copyAs}
      className="quiet wide-only"
      items={Object.entries(texts).map(([label, text]) => ({
        label,
        onSelect: () => void navigator.clipboard.writeText(text).then(() => say(words.record.copied(label))),
      }))}
    />
  )
}
