/** Which part of the feed is shown. Each filter is in the address. */
import type { Search } from '../../addresses.ts'
import type { Kind } from '../../api/session.ts'
import type { Group, RecordType } from '../../api/shapes.ts'
import { Button } from '../../parts/button.tsx'
import { Menu } from '../../parts/menu.tsx'
import { pluralOf } from '../../parts/record-types.ts'
import type { Change } from '../../parts/search.ts'
import { Segments } from '../../parts/segments.tsx'
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
  const others = [
    { name: 'tool', label: words.activity.tool, items: tools.map((name) => [name, name] as const) },
    {
      name: 'type',
      label: words.activity.type,
      items: types.map((each) => [each.id, pluralOf(each)] as const),
    },
    { name: 'op', label: words.activity.op, items: Object.entries(words.verbs) },
  ].filter(({ items }) => items.length > 0)
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
      <Menu
        className=""
        label={words.activity.who}
        items={[
          ...(['agent', 'person', 'program'] as const).map((each) => ({
            label: words.activity.only[each],
            isOn: kind === each,
            onSelect: () => onChange({ kind: kind === each ? undefined : each, who: undefined }),
          })),
          ...names.map((name) => ({
            label: <Text>{name}</Text>,
            isOn: author === name,
            onSelect: () => onChange({ who: name, kind: undefined }),
          })),
        ]}
      />
      {others.map(({ name, label, items }) => (
        <Menu
          key={name}
          className=""
          label={label}
          items={items.map(([id, text]) => ({
            label: <Text>{text}</Text>,
            isOn: search[name] === id,
            onSelect: () => onChange({ [name]: search[name] === id ? undefined : id }),
          }))}
        />
      ))}
    </div>
  )
}
