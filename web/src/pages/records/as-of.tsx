/** The list as it was at another time. */
import { Menu } from '../../parts/menu.tsx'
import { DAY, HOUR, shortTime, startOfDay } from '../../parts/time.tsx'
import { words } from '../../words.ts'

type Props = { at: string | undefined; onChange: (at: string | undefined) => void }

export function AsOf({ at, onChange }: Props) {
  const today = startOfDay(Date.now())
  const moments: [string, number][] = [
    [words.records.moments.hour, Date.now() - HOUR],
    [words.records.moments.today, today],
    [words.records.moments.yesterday, today - DAY],
    [words.records.moments.week, today - 7 * DAY],
  ]
  return (
    <Menu
      className={at === undefined ? 'quiet wide-only' : 'quiet past-time'}
      icon="clock"
      label={at === undefined ? words.records.asOfNow : words.records.asOf(shortTime(Date.parse(at)))}
      items={[
        { label: words.records.asOfNow, isOn: at === undefined, onSelect: () => onChange(undefined) },
        ...moments.map(([label, ms]) => ({
          label,
          note: shortTime(ms),
          onSelect: () => onChange(new Date(ms).toISOString()),
        })),
      ]}
    >
      <label className="moment">
        {words.records.moments.other}
        <input
          type="datetime-local"
          onKeyDown={(event) => {
            const { value } = event.currentTarget
            if (event.key === 'Enter' && value !== '') onChange(new Date(value).toISOString())
          }}
        />
      </label>
    </Menu>
  )
}
