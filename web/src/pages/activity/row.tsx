/** A row of the feed. It opens in place: the first records, then all of them, and what the request set off. */
import { useState } from 'react'
import { Link } from 'wouter'
import { navigate } from 'wouter/use-browser-location'
import { to } from '../../addresses.ts'
import type { ChangedField, RecordType } from '../../api/shapes.ts'
import { askUndo, pendingOf, type Undo } from '../../parts/answer.tsx'
import { Button, Icon } from '../../parts/button.tsx'
import { ChangesInLine } from '../../parts/diff.tsx'
import { useMay } from '../../parts/grants.ts'
import { type Change as ChangeSearch, LinkButton } from '../../parts/link.tsx'
import { Menu } from '../../parts/menu.tsx'
import { fieldName, HOUR, startOfDay, Text, Time, Tool, timeNow, visible, whole } from '../../parts/text.tsx'
import { DoneSince, ProposedBy, Shape, Who } from '../../parts/who.tsx'
import { words } from '../../words.ts'
import type { Folded } from './fold.ts'
import { useChangesOf } from './load.ts'
import { Sentence, Subjects } from './sentence.tsx'

type Props = Omit<AuthorProps, 'mayUndo'> & { types: readonly RecordType[] }

export function Row({ base, row, types, onFilter }: Props) {
  const [isOpen, setOpen] = useState(false)
  const [group] = row.groups
  const mayUndo = useMay(base, row.by[0]?.record_type ?? '*', 'write')
  if (!group) return null
  const { actor, call } = group
  const toggle = () => setOpen(!isOpen)
  const tool = call?.tool && <Tool name={call.tool} />
  const about = (
    <>
      <Who {...actor} /> {tool} <Time at={row.last} />
    </>
  )
  return (
    <li className={`feed-row ruled ${isOpen ? 'open' : ''} ${row.isUndone ? 'undone' : ''}`}>
      <div className="row feed-line">
        <button
          type="button"
          className="bare shape-button"
          title={words.activity.onlyThis(visible(actor.name))}
          onClick={() => onFilter({ who: actor.name, kind: undefined })}
        >
          <Shape {...actor} />
          <span className="hidden">{words.activity.onlyThis(visible(actor.name))}</span>
        </button>
        <div className="feed-what grow">
          <Author base={base} row={row} mayUndo={mayUndo} onFilter={onFilter} />{' '}
          <Sentence base={base} row={row} types={types} onOpen={toggle} /> {tool}
          <span className="note">
            {row.proposed.length > 0 && <ProposedBy by={row.proposed} />}
            {call?.endpoint && (
              <>
                {' '}
                {words.activity.at} <Text>{call.endpoint}</Text>
              </>
            )}
            {row.groups.length > 1 &&
              ` ${call ? words.activity.calls(row.groups.length) : words.activity.requests(row.groups.length)}`}
          </span>
          {row.isUndone && group.undone_by !== null ? (
            <Link className="note" href={to.request(base, group.undone_by)}>
              {words.activity.undone}
            </Link>
          ) : (
            row.undone > 0 && (
              <span className="note changed-word"> {words.activity.undoneOf(row.undone, row.count)}</span>
            )
          )}
        </div>
        <span className="row feed-end">
          {mayUndo && (row.isUndone || row.by.some(({ kind }) => UNDOABLE.has(kind))) && (
            <Button
              className="quiet"
              {...(row.isUndone
                ? { label: words.record.undoUndo }
                : { icon: 'undo', label: <span className="feed-undo">{words.undo.verb}</span> })}
              onClick={() => askUndo({ base, of: undoOf(row), about })}
            />
          )}
          <button
            type="button"
            className="quiet feed-time"
            aria-expanded={isOpen}
            onClick={toggle}
            onKeyDown={({ key }) => key === 'Escape' && setOpen(false)}
          >
            <Time at={row.last} /> <Icon name="down" />{' '}
            <span className="hidden">{words.activity.details}</span>
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

/** The body of an undo of a row: its undo, its request, or what the author did in that time. */
function undoOf({ groups, first, last, isUndone }: Folded): Undo['of'] {
  const [group] = groups
  if (isUndone) return { request_id: group?.undone_by }
  if (groups.length === 1) return { request_id: group?.request_id }
  return {
    actor: group?.actor.token_id ?? group?.actor.name,
    since: first,
    until: new Date(Date.parse(last) + 1).toISOString(),
  }
}

const FIRST = 4

/** It stays what was opened. */
function Opened({ base, row: now }: { base: string; row: Folded }) {
  const [row] = useState(now)
  const [group] = row.groups
  const request = group?.request_id ?? ''
  const changes = useChangesOf(base, request, FIRST)
  return (
    <div className="feed-open">
      {pendingOf(changes, 2)}
      <Subjects base={base} changes={changes.data?.data ?? []} most={3} />
      <p className="meta chips gap-3">
        <LinkButton label={words.activity.all(group?.count ?? 0)} href={to.request(base, request)} />
        <code>{words.request(request.slice(0, 8))}</code>
        {group?.call?.client && <Text>{group.call.client}</Text>}
        {row.groups.length > 1 && <span>{words.activity.ofRequests(whole.format(row.groups.length))}</span>}
      </p>
    </div>
  )
}

type AuthorProps = {
  base: string
  row: Folded
  mayUndo: boolean
  onFilter: ChangeSearch
}

/** The name of an author opens what there is about it. */
function Author({ base, row, mayUndo, onFilter }: AuthorProps) {
  const { actor } = row.groups[0] ?? {}
  if (!actor) return null
  const { name, kind, token_id: token } = actor
  const today = startOfDay(timeNow())
  const moments: [string, number][] = [
    [words.undo.sinceHour, timeNow() - HOUR],
    [words.undo.sinceNoon, today + 12 * HOUR],
    [words.undo.sinceMidnight, today],
  ]
  const undoSince = (at: number) => {
    const about = <DoneSince name={name} kind={kind} at={at} />
    askUndo({ base, of: { actor: token ?? name, since: new Date(at).toISOString() }, about })
  }
  return (
    <Menu
      className="bare author"
      label={<Text in="strong">{name}</Text>}
      name={name}
      items={[
        ...moments
          .filter(([, at]) => mayUndo && at < timeNow())
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
