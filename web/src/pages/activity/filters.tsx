/** Which part of the feed is shown. Each filter is in the address. */
import type { Search } from '../../addresses.ts'
import type { Kind } from '../../api/session.ts'
import type { Group, RecordType } from '../../api/shapes.ts'
import { Button } from '../../parts/button.tsx'
import { Segments } from '../../parts/fields.tsx'
import type { Change } from '../../parts/link.tsx'
import { Menu } from '../../parts/menu.tsx'
import { pluralOf } from '../../parts/record-types.ts'
import { Text, visible } from '../../parts/text.tsx'
import { words } from '../../words.ts'
import { DAY } from './load.ts'

const RANGES = { '1h': words.activity.hour, [DAY]: words.activity.day, '7d': words.activity.week }

export function Range({ search, onChange }: { search: Search; onChange: Change }) {
  const { since = DAY } = search
  const isOther = !Object.hasOwn(RANGES, since)
  const choose = (range: string) => onChange({ since: range === DAY ? undefined : range })
  return (
    <Segments label={words.when} options={RANGES} value={since} onChange={choose}>
      <Menu
        className={isOther ? 'on' : ''}
        label={words.activity.since}
        name={words.activity.since}
        items={['30d', '90d', '365d'].map((range) => ({
          label: words.activity.days(Number.parseInt(range, 10)),
          isOn: since === range,
          onSelect: () => onChange({ since: range }),
        }))}
      >
        <input
          type="datetime-local"
          aria-label={words.activity.since}
          onChange={({ target }) =>
            target.value && onChange({ since: new Date(target.value).toISOString() }, true)
          }
        />
      </Menu>
    </Segments>
  )
}

type Props = { search: Search; groups: readonly Group[]; types: readonly RecordType[]; onChange: Change }

export function Filters({ search, groups, types, onChange }: Props) {
  const { who, kind, tool, type, op } = search
  // A link may name a token by its id, since others can have its name.
  const author = groups.find(({ actor }) => actor.token_id === who)?.actor.name ?? who
  const names = [...new Set(groups.map(({ actor }) => actor.name))].sort()
  const tools = [...new Set(groups.flatMap(({ call }) => call?.tool ?? []))].sort()
  const chosen = [
    { name: 'who', label: words.activity.who, value: author },
    { name: 'kind', label: words.activity.who, value: words.activity.only[kind as Kind] ?? kind },
    { name: 'tool', label: words.activity.tool, value: tool },
    { name: 'type', label: words.activity.type, value: type },
    { name: 'op', label: words.activity.op, value: words.verbs[op as keyof typeof words.verbs] ?? op },
  ].flatMap(({ value, ...rest }) => (value === undefined ? [] : [{ value, ...rest }]))
  const item = (name: string, id: string, label: string, rest: Search = {}) => {
    const isOn = search[name] === id || (name === 'who' && author === id)
    return {
      label: <Text>{label}</Text>,
      isOn,
      onSelect: () => onChange({ ...rest, [name]: isOn ? undefined : id }),
    }
  }
  const menus = [
    [
      words.activity.who,
      [
        ...Object.entries(words.activity.only).map(([id, label]) =>
          item('kind', id, label, { who: undefined }),
        ),
        ...names.map((each) => item('who', each, each, { kind: undefined })),
      ],
    ],
    [words.activity.tool, tools.map((each) => item('tool', each, each))],
    [words.activity.type, types.map((each) => item('type', each.id, pluralOf(each)))],
    [words.activity.op, Object.entries(words.verbs).map(([id, label]) => item('op', id, label))],
  ] as const
  return (
    <div className="chips">
      {chosen.map(({ label, value, name }) => (
        <span key={name} className="filter-chip">
          <span className="note">{label}</span>
          <Text in="strong">{value}</Text>
          <Button
            className="quiet"
            icon="close"
            aria-label={words.remove(visible(value))}
            onClick={() => onChange({ [name]: undefined })}
          />
        </span>
      ))}
      {menus.map(
        ([label, items]) => items.length > 0 && <Menu key={label} className="" label={label} items={items} />,
      )}
    </div>
  )
}
