import { navigate } from 'wouter/use-browser-location'
import { to } from '../../addresses.ts'
import { Menu } from '../../parts/menu.tsx'
import { Text } from '../../parts/plain-text.tsx'
import { visible } from '../../parts/text.ts'
import { startOfDay, Time } from '../../parts/time.tsx'
import { Who } from '../../parts/who.tsx'
import { words } from '../../words.ts'
import type { Props } from './row.tsx'

const HOUR = 3_600_000

/** The name of an author opens what there is about it. */
export function Author({
  base,
  row,
  mayUndo,
  onFilter,
  onUndo,
}: Omit<Props, 'types'> & { mayUndo: boolean }) {
  const { actor } = row.groups[0] ?? {}
  if (!actor) return null
  const { name, kind, token_id: token } = actor
  const today = startOfDay(Date.now())
  const moments: [string, number][] = [
    [words.undo.sinceHour, Date.now() - HOUR],
    [words.undo.sinceNoon, today + 12 * HOUR],
    [words.undo.sinceMidnight, today],
  ]
  const undoSince = (at: number) => {
    const about = (
      <>
        <Who name={name} kind={kind} /> {words.undo.since} <Time at={at} />
      </>
    )
    onUndo({ of: { actor: token ?? name, since: new Date(at).toISOString() }, about })
  }
  return (
    <Menu
      className="author"
      label={<Text>{name}</Text>}
      name={name}
      items={[
        ...moments
          .filter(([, at]) => mayUndo && at < Date.now())
          .map(([label, at]) => ({ label, onSelect: () => undoSince(at) })),
        {
          label: words.activity.onlyThis(visible(name)),
          onSelect: () => onFilter({ who: name, kind: undefined }),
        },
        ...(token === null
          ? []
          : [{ label: words.activity.usage, onSelect: () => navigate(to.agents(base, token)) }]),
      ]}
    />
  )
}
