/** A row of the feed. It opens in place: the first records, then all of them, and what the request set off. */
import { type KeyboardEvent, useState } from 'react'
import { Link } from 'wouter'
import { to } from '../../addresses.ts'
import type { ChangedField, RecordType } from '../../api/shapes.ts'
import { ChangesInLine, changesOf } from '../../parts/diff.tsx'
import { pendingOf } from '../../parts/failure.tsx'
import { useMay } from '../../parts/grants.ts'
import { Icon } from '../../parts/icon.tsx'
import { Menu } from '../../parts/menu.tsx'
import { Text } from '../../parts/plain-text.tsx'
import type { Change as ChangeSearch } from '../../parts/search.ts'
import { fieldName, visible, whole } from '../../parts/text.ts'
import { Time } from '../../parts/time.tsx'
import { Shape } from '../../parts/who.tsx'
import { words } from '../../words.ts'
import type { Folded } from './fold.ts'
import { useChangesOf } from './load.ts'
import { Sentence } from './sentence.tsx'
import { Subject } from './subject.tsx'

export type UndoBody = Record<string, unknown>
type Props = {
  base: string
  row: Folded
  types: readonly RecordType[]
  onFilter: ChangeSearch
  onUndo: (body: UndoBody) => void
}

export function Row({ base, row, types, onFilter, onUndo }: Props) {
  const [isOpen, setOpen] = useState(false)
  const [group] = row.groups
  const mayUndo = useMay(base, row.by[0]?.record_type ?? '*', 'write')
  if (!group) return null
  const { actor, call } = group
  const toggle = () => setOpen(!isOpen)
  return (
    <li className={`feed-row ${isOpen ? 'open' : ''} ${row.isUndone ? 'undone' : ''}`}>
      <div className="feed-line">
        <button
          type="button"
          className="shape-button"
          title={words.activity.onlyThis(visible(actor.name))}
          aria-label={words.activity.onlyThis(visible(actor.name))}
          onClick={() => onFilter({ who: actor.name, kind: undefined })}
        >
          <Shape name={actor.name} kind={actor.kind} />
        </button>
        <div className="feed-what">
          <Author base={base} row={row} mayUndo={mayUndo} onFilter={onFilter} onUndo={onUndo} />{' '}
          <Sentence base={base} row={row} types={types} />{' '}
          {call?.tool && (
            <code className="tool">
              <Text>{call.tool}</Text>
            </code>
          )}
          <span className="note">
            {call?.endpoint && (
              <>
                {' '}
                {words.activity.at} <Text>{call.endpoint}</Text>
              </>
            )}
            {row.groups.length > 1 &&
              ` ${call ? words.activity.calls(row.groups.length) : words.activity.requests(row.groups.length)}`}
          </span>
          {row.isUndone && group.undone_by !== null && (
            <Link className="note" href={to.request(base, group.undone_by)}>
              {words.activity.undone}
            </Link>
          )}
        </div>
        <span className="feed-end">
          {mayUndo && !row.isUndone && row.by.some(({ kind }) => UNDOABLE.has(kind)) && (
            <button type="button" className="quiet" onClick={() => onUndo(undoOf(row))}>
              <Icon name="undo" /> {words.undo.verb}
            </button>
          )}
          {mayUndo && row.isUndone && (
            <button type="button" className="quiet" onClick={() => onUndo({ request_id: group.undone_by })}>
              {words.undo.theUndo}
            </button>
          )}
          <button
            type="button"
            className="quiet feed-time"
            aria-expanded={isOpen}
            aria-label={words.activity.details}
            onClick={toggle}
            onKeyDown={(event) => closeOnEscape(event, () => setOpen(false))}
          >
            <Time at={row.last} />
          </button>
        </span>
      </div>
      {row.fields.length > 0 && (
        <div className="feed-fields">
          <ChangesInLine changes={row.fields.map(lineOf)} />
        </div>
      )}
      {isOpen && <Opened base={base} row={row} />}
    </li>
  )
}

const SIDES = ['from', 'to'] as const
/** A field of several changes: a value that they do not share is left out. */
const lineOf = ({ path, ...rest }: ChangedField) => ({
  ...rest,
  name: fieldName(path),
  varies: SIDES.filter((side) => !Object.hasOwn(rest, side)),
})

const UNDOABLE = new Set(['record', 'relationship', 'file', 'record_type'])

/** The body of an undo of a row: its request, or what the author did in that time. */
function undoOf({ groups, first, last }: Folded): UndoBody {
  const [group] = groups
  if (groups.length === 1) return { request_id: group?.request_id }
  return {
    actor: group?.actor.token_id ?? group?.actor.name,
    since: first,
    until: new Date(Date.parse(last) + 1).toISOString(),
  }
}

function closeOnEscape({ key }: KeyboardEvent, close: () => void): void {
  if (key === 'Escape') close()
}

/** The name of an author opens what there is about it. */
function Author({ base, row, mayUndo, onFilter, onUndo }: Omit<Props, 'types'> & { mayUndo: boolean }) {
  const { actor } = row.groups[0] ?? {}
  if (!actor) return null
  const since = (hours: number | 'noon' | 'day') => {
    const at = new Date()
    if (hours === 'noon') at.setHours(12, 0, 0, 0)
    else if (hours === 'day') at.setHours(0, 0, 0, 0)
    else at.setTime(at.getTime() - hours * 3_600_000)
    onUndo({ actor: actor.token_id ?? actor.name, since: at.toISOString() })
  }
  return (
    <Menu
      className="author"
      label={<Text>{actor.name}</Text>}
      name={actor.name}
      items={[
        ...(mayUndo
          ? [
              { label: words.undo.sinceHour, onSelect: () => since(1) },
              { label: words.undo.sinceNoon, onSelect: () => since('noon') },
              { label: words.undo.sinceMidnight, onSelect: () => since('day') },
            ]
          : []),
        {
          label: words.activity.onlyThis(visible(actor.name)),
          onSelect: () => onFilter({ who: actor.name, kind: undefined }),
        },
        ...(actor.token_id === null
          ? []
          : [
              {
                label: words.activity.usage,
                onSelect: () => location.assign(to.agents(base, actor.token_id ?? '')),
              },
            ]),
      ]}
    />
  )
}

const FIRST = 4

function Opened({ base, row }: { base: string; row: Folded }) {
  const [group] = row.groups
  const request = group?.request_id ?? ''
  const changes = useChangesOf(base, request, FIRST)
  return (
    <div className="feed-open">
      {pendingOf(changes, 2)}
      <ul>
        {changes.data?.data.map((change) => (
          <li key={change.seq}>
            <Subject base={base} change={change} />
            <ChangesInLine changes={changesOf(change.diff)} most={3} />
          </li>
        ))}
      </ul>
      <p className="meta">
        <Link href={to.request(base, request)} className="button">
          {words.activity.all(group?.count ?? 0)}
        </Link>
        <code>{words.request(request.slice(0, 8))}</code>
        {group?.call?.client && <Text>{group.call.client}</Text>}
        {row.groups.length > 1 && <span>{words.activity.ofRequests(whole.format(row.groups.length))}</span>}
      </p>
    </div>
  )
}
