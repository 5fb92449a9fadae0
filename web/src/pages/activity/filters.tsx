/** Which part of the feed is shown. Each filter is in the address. */
import type { Search } from '../../addresses.ts'
import type { Kind } from '../../api/session.ts'
import type { Group, RecordType } from '../../api/shapes.ts'
import { Icon } from '../../parts/icon.tsx'
import { Menu } from '../../parts/menu.tsx'
import { Text } from '../../parts/plain-text.tsx'
import { pluralOf } from '../../parts/record-types.ts'
import type { Change } from '../../parts/search.ts'
import { visible } from '../../parts/text.ts'
import { words } from '../../words.ts'
import { DAY } from './load.ts'

const RANGES = [
  ['1h', words.activity.hour],
  [DAY, words.activity.day],
  ['7d', words.activity.week],
] as const

export function Range({ search, onChange }: { search: Search; onChange: Change }) {
  const { since = DAY } = search
  const isOther = !RANGES.some(([range]) => range === since)
  return (
    <fieldset className="segments">
      <legend className="hidden">{words.when}</legend>
      {RANGES.map(([range, label]) => (
        <button
          key={range}
          type="button"
          aria-pressed={since === range}
          onClick={() => onChange({ since: range === DAY ? undefined : range })}
        >
          {label}
        </button>
      ))}
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
    </fieldset>
  )
}

type Props = { search: Search; groups: readonly Group[]; types: readonly RecordType[]; onChange: Change }

export function Filters({ search, groups, types, onChange }: Props) {
  const { who, kind, tool, type, op } = search
  const names = [...new Set(groups.map(({ actor }) => actor.name))].sort()
  const tools = [...new Set(groups.flatMap(({ call }) => call?.tool ?? []))].sort()
  const chosen = [
    who !== undefined && { label: words.activity.who, value: who, name: 'who' },
    kind !== undefined && {
      label: words.activity.who,
      value: words.activity.only[kind as Kind] ?? kind,
      name: 'kind',
    },
    tool !== undefined && { label: words.activity.tool, value: tool, name: 'tool' },
    type !== undefined && { label: words.activity.type, value: type, name: 'type' },
    op !== undefined && {
      label: words.activity.op,
      value: words.verbs[op as keyof typeof words.verbs] ?? op,
      name: 'op',
    },
  ].filter((each) => each !== false)
  return (
    <div className="chips">
      {chosen.map(({ label, value, name }) => (
        <span key={name} className="filter-chip">
          <span className="note">{label}</span>
          <Text in="strong">{value}</Text>
          <button
            type="button"
            className="quiet"
            aria-label={words.remove(visible(value))}
            onClick={() => onChange({ [name]: undefined })}
          >
            <Icon name="close" />
          </button>
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
            isOn: who === name,
            onSelect: () => onChange({ who: name, kind: undefined }),
          })),
        ]}
      />
      {tools.length > 0 && (
        <Menu
          className=""
          label={words.activity.tool}
          items={tools.map((name) => ({
            label: <Text>{name}</Text>,
            isOn: tool === name,
            onSelect: () => onChange({ tool: tool === name ? undefined : name }),
          }))}
        />
      )}
      <Menu
        className=""
        label={words.activity.type}
        items={types.map((each) => ({
          label: <Text>{pluralOf(each)}</Text>,
          isOn: type === each.id,
          onSelect: () => onChange({ type: type === each.id ? undefined : each.id }),
        }))}
      />
      <Menu
        className=""
        label={words.activity.op}
        items={Object.entries(words.verbs).map(([id, label]) => ({
          label,
          isOn: op === id,
          onSelect: () => onChange({ op: op === id ? undefined : id }),
        }))}
      />
    </div>
  )
}
