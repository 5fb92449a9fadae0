/** The side bar: the base, the pages, and the record types with their counts. */
import { Link } from 'wouter'
import { navigate } from 'wouter/use-browser-location'
import { to } from '../addresses.ts'
import { useBases, useFailing, useRead, useRecordCounts, useTypes, useWaiting } from '../api/queries.ts'
import type { Base, Diagnostics, RecordType } from '../api/shapes.ts'
import { Icon } from '../parts/button.tsx'
import { useMay } from '../parts/grants.ts'
import { itemsOf, Menu } from '../parts/menu.tsx'
import { FIRST, isAt, type Place, usePlaces } from '../parts/places.ts'
import { baseName } from '../parts/proposal.ts'
import { pluralOf } from '../parts/record-types.ts'
import { Text, visible, whole } from '../parts/text.tsx'
import { words } from '../words.ts'
import { Me } from './me.tsx'

type Props = { base: string; path: string; onPanel: (panel: 'jump' | 'keys') => void }

export function Side({ base, path, onPanel }: Props) {
  const types = useTypes(base).data ?? []
  const counts = useRecordCounts(base, types)
  const waiting = useWaiting(base).data?.meta.total
  const failing = useFailing(base, '24h', { limit: 1, enabled: useMay(base, '*', 'read') }).total
  const notes: Readonly<Record<string, number | undefined>> = {
    [words.nav.review]: waiting,
    [words.nav.automation]: failing,
  }
  const item = (place: Place, className = 'side-item') => {
    const note = notes[place.name] ?? 0
    return (
      <Link
        key={place.address}
        href={place.address}
        className={className}
        data-page={place.key}
        aria-current={isAt(place, path, base) ? 'page' : undefined}
      >
        <Icon name={place.icon} />
        <span>{place.name}</span>
        {note > 0 &&
          (place.icon === 'automation' ? (
            <span className="note failed-word">{words.nav.failed(whole.format(note))}</span>
          ) : (
            <span className="count">{whole.format(note)}</span>
          ))}
      </Link>
    )
  }
  const places = usePlaces(base)
  const isOf = ({ id }: RecordType) => `${path}/`.startsWith(`${to.records(base, id)}/`)
  return (
    <nav className="column gap-4 side" aria-label={words.nav.title}>
      <BaseSwitch base={base} />
      <button type="button" className="full faint jump-button" onClick={() => onPanel('jump')}>
        <Icon name="search" />
        <span>{words.jumpHint}</span>
        <kbd>⌘ K</kbd>
      </button>
      <div className="side-pages">
        {places.slice(0, FIRST - 1).map((place) => item(place))}
        <Menu
          className={`side-item narrow-only ${types.some(isOf) ? 'on' : ''}`}
          icon="table"
          label={words.nav.records}
          items={itemsOf(
            types.map((type) => [type, <Text key={type.id}>{pluralOf(type)}</Text>]),
            ({ id }) => navigate(to.records(base, id)),
            { is: types.find(isOf) },
          )}
        />
        {places.slice(FIRST - 1, FIRST).map((place) => item(place))}
        {places.slice(FIRST).map((place) => item(place, 'side-item wide-only'))}
        <a className="side-item wide-only" href={to.playground(base)}>
          <Icon name="graphql" />
          <span>{words.nav.graphql}</span>
        </a>
      </div>
      <div className="side-types">
        <p className="small faint side-head">{words.nav.records}</p>
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
      <Health base={base} path={path} />
      <Me base={base} onPanel={onPanel} />
    </nav>
  )
}

/** Production or a preview, which is amber, always. */
function BaseSwitch({ base }: { base: string }) {
  const all = useBases().data?.data ?? []
  const mine = all.find(({ id }) => id === base)
  const name = mine ? baseName(mine) : base
  const nameOf = (id: string) => all.find((each) => each.id === id)?.name ?? id
  const kindOf = ({ production_base: of }: Base) =>
    of === null ? words.nav.production : words.nav.preview(nameOf(of))
  const items = itemsOf(
    all.map((each) => [each.id, <Text key={each.id}>{baseName(each)}</Text>, kindOf(each)]),
    (id) => navigate(to.activity(id)),
    { is: base },
  )
  return (
    <Menu
      className={`full base-switch ${mine?.production_base ? 'preview' : ''}`}
      items={items}
      label={
        <>
          <span className="mark" aria-hidden="true" />
          <span className="lines" title={visible(name)}>
            <Text in="strong" className="ellipsis">
              {name}
            </Text>
            <span className="meta ellipsis">{mine ? kindOf(mine) : base}</span>
          </span>
          <Icon name="down" />
        </>
      }
    />
  )
}

const HEALTH = { ok: '', warning: 'changed-word', error: 'failed-word' }

/** How the server is, in a word, for who may know. */
function Health({ base, path }: Omit<Props, 'onPanel'>) {
  const isAdmin = useMay('*', '*', 'admin')
  const { data } = useRead<Diagnostics>('/v1/diagnostics', { enabled: isAdmin })
  if (!isAdmin) return null
  return (
    <Link
      href={to.operate(base)}
      className="side-item side-health wide-only"
      aria-current={path === to.operate(base) ? 'page' : undefined}
    >
      <Icon name="chart" />
      <span>{words.nav.operate}</span>
      {data && <span className={`note ${HEALTH[data.status]}`}>{words.operate.states[data.status]}</span>}
    </Link>
  )
}
