import { navigate } from 'wouter/use-browser-location'
import { to } from '../../addresses.ts'
import { Menu } from '../../parts/menu.tsx'
import { Text } from '../../parts/plain-text.tsx'
import type { Change as ChangeSearch } from '../../parts/search.ts'
import { visible } from '../../parts/text.ts'
import { HOUR, startOfDay } from '../../parts/time.tsx'
import { askUndo } from '../../parts/undo/asked.ts'
import { DoneSince } from '../../parts/who.tsx'
import { words } from '../../words.ts'
import type { Folded } from './fold.ts'

export type Props = {
  base: string
  row: Folded
  mayUndo: boolean
  onFilter: ChangeSearch
}

/** The name of an author opens what there is about it. */
export function Author({ base, row, mayUndo, onFilter }: Props) {
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
    const about = <DoneSince name={name} kind={kind} at={at} />
    askUndo({ base, of: { actor: token ?? name, since: new Date(at).toISOString() }, about })
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
