/** The side bar: the base, the pages, the record types with their counts, and who is signed in. */
import { useMemo } from 'react'
import { Link } from 'wouter'
import { navigate } from 'wouter/use-browser-location'
import { to } from '../addresses.ts'
import { useAsk, useBases, useTypes, useWaiting } from '../api/queries.ts'
import { signOut, useSession } from '../api/session.ts'
import type { Base, RecordType } from '../api/shapes.ts'
import { Icon, type IconName } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import { Text } from '../parts/plain-text.tsx'
import { pluralOf } from '../parts/record-types.ts'
import { whole } from '../parts/text.ts'
import { Who } from '../parts/who.tsx'
import { words } from '../words.ts'

type Props = { base: string; path: string; onPanel: (panel: 'jump' | 'keys') => void }

export function Side({ base, path, onPanel }: Props) {
  const types = useTypes(base).data ?? []
  const counts = useCounts(base, types)
  const waiting = useWaiting(base).data?.meta.total
  const item = (icon: IconName, label: string, address: string, isOn: boolean, note?: number) => (
    <Link href={address} className="side-item" aria-current={isOn ? 'page' : undefined}>
      <Icon name={icon} />
      <span>{label}</span>
      {note !== undefined && note > 0 && <span className="count">{whole.format(note)}</span>}
    </Link>
  )
  const home = to.activity(base)
  const isOf = ({ id }: RecordType) => `${path}/`.startsWith(`${to.records(base, id)}/`)
  return (
    <nav className="side" aria-label={words.nav.title}>
      <BaseSwitch base={base} />
      <button type="button" className="jump-button" onClick={() => onPanel('jump')}>
        <Icon name="search" />
        <span>{words.jumpHint}</span>
        <kbd>⌘ K</kbd>
      </button>
      <div className="side-pages">
        {item('activity', words.nav.activity, home, path === home || path.startsWith(`${home}/r/`))}
        {item('review', words.nav.review, to.review(base), path.startsWith(to.review(base)), waiting)}
        <Menu
          className={`side-item narrow-only ${types.some(isOf) ? 'on' : ''}`}
          icon="table"
          label={words.nav.records}
          items={types.map((type) => ({
            label: <Text>{pluralOf(type)}</Text>,
            isOn: isOf(type),
            onSelect: () => navigate(to.records(base, type.id)),
          }))}
        />
        {item('agents', words.nav.agents, to.agents(base), path.startsWith(to.agents(base)))}
        <a className="side-item wide-only" href={to.playground(base)}>
          <Icon name="graphql" />
          <span>{words.nav.graphql}</span>
        </a>
      </div>
      <div className="side-types">
        <p className="side-head">{words.nav.records}</p>
        {types.map((type) => (
          <Link
            key={type.id}
            href={to.records(base, type.id)}
            className="side-item"
            data-type={type.id}
            aria-current={isOf(type) ? 'page' : undefined}
          >
            <Icon name="table" />
            <Text>{pluralOf(type)}</Text>
            {counts[type.id] !== undefined && (
              <span className="note">{whole.format(counts[type.id] ?? 0)}</span>
            )}
          </Link>
        ))}
      </div>
      <Me base={base} onPanel={onPanel} />
    </nav>
  )
}

/** Production or a preview, which is amber, always. */
function BaseSwitch({ base }: { base: string }) {
  const all = useBases().data?.data ?? []
  const mine = all.find(({ id }) => id === base)
  const kindOf = ({ production_base: of }: Base) =>
    of === null ? words.nav.production : words.nav.preview(of)
  const items = [
    ...all.map((each) => ({
      label: each.name ?? each.id,
      note: kindOf(each),
      isOn: each.id === base,
      onSelect: () => navigate(to.activity(each.id)),
    })),
  ]
  return (
    <Menu
      className={`base-switch ${mine?.production_base ? 'preview' : ''}`}
      items={items}
      label={
        <>
          <span className="mark" aria-hidden="true" />
          <span className="base-name">
            <Text in="strong">{mine?.name ?? base}</Text>
            <span>{mine ? kindOf(mine) : base}</span>
          </span>
          <Icon name="down" />
        </>
      }
    />
  )
}

/** How many records each type has: one request, whatever the number of types. */
function useCounts(base: string, types: readonly RecordType[]): Record<string, number | undefined> {
  const query = useMemo(() => {
    const fields = types.map(
      (type, at) =>
        `t${at}: aggregate(base: $base, recordType: ${JSON.stringify(type.id)}, aggregations: [{ fn: "count" }]) { rows }`,
    )
    return { query: `query ($base: String!) { ${fields.join(' ')} }`, variables: { base } }
  }, [base, types])
  const answer = useAsk<{ data?: Record<string, { rows: { count: number }[] } | null> }>('/graphql', query, {
    enabled: types.length > 0,
    keep: true,
  })
  return Object.fromEntries(types.map(({ id }, at) => [id, answer.data?.data?.[`t${at}`]?.rows[0]?.count]))
}

function Me({ base, onPanel }: Omit<Props, 'path'>) {
  const session = useSession()
  if (!('self' in session)) return null
  const theme = document.documentElement.dataset['theme'] ?? 'system'
  const themed = (name: 'system' | 'light' | 'dark') => ({
    label: words.nav.themes[name],
    note: words.nav.theme,
    isOn: theme === name,
    onSelect: () => setTheme(name),
  })
  return (
    <div className="side-me">
      <Menu
        className="side-item"
        label={
          <>
            <Who name={session.self.name} kind={session.self.kind ?? 'person'} />
            <span className="narrow-only">{words.nav.more}</span>
          </>
        }
        items={[
          { label: words.nav.graphql, onSelect: () => location.assign(to.playground(base)) },
          { label: words.nav.allBases, onSelect: () => navigate(to.home()) },
          { label: words.nav.guides, onSelect: () => location.assign('/guides') },
          { label: words.nav.reference, onSelect: () => location.assign('/docs/') },
          { label: words.nav.keys, note: '?', onSelect: () => onPanel('keys') },
          themed('system'),
          themed('light'),
          themed('dark'),
          { label: words.nav.signOut, onSelect: () => void signOut() },
        ]}
      />
    </div>
  )
}

const THEME = 'plinth.theme'
function setTheme(name: string): void {
  if (name === 'system') {
    localStorage.removeItem(THEME)
    delete document.documentElement.dataset['theme']
  } else {
    localStorage.setItem(THEME, name)
    document.documentElement.dataset['theme'] = name
  }
}
setTheme(localStorage.getItem(THEME) ?? 'system')
