/** A record type: its fields in words, what it is linked with, what works with it, and how it came to be so. */
import { useState } from 'react'
import { Link } from 'wouter'
import { navigate } from 'wouter/use-browser-location'
import { to } from '../../addresses.ts'
import { type RecordType, useTypes } from '../../api/queries.ts'
import { pendingOf } from '../../parts/answer.tsx'
import { Button } from '../../parts/button.tsx'
import { CardItem, Facts, Panel } from '../../parts/card.tsx'
import { DeletePlan } from '../../parts/dialog.tsx'
import { ChangesInTable, changesOf } from '../../parts/diff.tsx'
import { useMay } from '../../parts/grants.ts'
import { LinkButton } from '../../parts/link.tsx'
import { kindName } from '../../parts/proposal.ts'
import { nameOf, pluralOf, titleField } from '../../parts/record-types.ts'
import { SchemaChange } from '../../parts/schema-change.tsx'
import { fieldName, Text, Time, whole } from '../../parts/text.tsx'
import { Who } from '../../parts/who.tsx'
import { words } from '../../words.ts'
import { EditField, EditType } from './edit.tsx'
import { Fields } from './fields.tsx'
import { AUTOMATIC, FEW, type LinkType, useConfig, usersOf, useStory } from './load.ts'

type Props = { base: string; type: RecordType; count: number | undefined; isProtected: boolean }
/** What is edited: the type itself, one of its fields, or one that is to be; or all of it is to go. */
type Edited = { field?: string | undefined } | 'type' | 'deleted'

export function TypePanel({ base, type, count, isProtected }: Props) {
  const [edited, setEdited] = useState<Edited>()
  const mayEdit = useMay(base, type.id, 'manage') && !isProtected
  const end = () => setEdited(undefined)
  const title = titleField(type)
  const plural = pluralOf(type)
  return (
    <Panel back={to.types(base)} title={<Text>{plural}</Text>} note={words.recordType}>
      <p className="card-item chips">
        <LinkButton label={words.types.open} href={to.records(base, type.id)} />
        {mayEdit && (
          <>
            <Button label={words.types.edit} onClick={() => setEdited('type')} />
            <Button icon="plus" label={words.types.newField} onClick={() => setEdited({})} />
            <Button className="danger" label={words.delete} onClick={() => setEdited('deleted')} />
          </>
        )}
      </p>
      <Facts
        of={{
          [words.types.heads.about]: type.description !== null && <Text>{type.description}</Text>,
          [words.types.id]: <code>{type.id}</code>,
          [words.types.heads.records]: count !== undefined && whole.format(count),
          [words.types.named]: title !== undefined && <Text>{fieldName(title)}</Text>,
          [words.types.heads.changed]: (
            <>
              {words.record.version(type.version)}, <Time at={type.updated_at} as="ago" />
            </>
          ),
        }}
      />
      <Fields type={type} onEdit={mayEdit ? (field) => setEdited({ field }) : undefined} />
      <Around base={base} type={type} />
      <Versions base={base} type={type.id} />
      {edited === 'type' && <EditType base={base} type={type} onClose={end} />}
      {edited === 'deleted' && (
        <DeletePlan
          of={[base, 'record-types', type.id]}
          base={base}
          says={{
            title: words.types.removeTitle(plural),
            act: words.deleteAct(plural),
            done: words.types.removed(plural),
            about: words.types.removeAbout,
          }}
          onDone={() => navigate(to.types(base))}
          onClose={end}
        />
      )}
      {typeof edited === 'object' && <EditField base={base} type={type} name={edited.field} onClose={end} />}
    </Panel>
  )
}

/** What it is linked with, and what would notice a change. */
function Around({ base, type: { id } }: { base: string; type: RecordType }) {
  const config = useConfig(base)
  const types = useTypes(base).data ?? []
  const pending = pendingOf(config, 3)
  if (!config.data) return <div className="card-item">{pending}</div>
  const called = (ids: readonly string[], isOne: boolean) =>
    ids
      .map((each) => {
        const type = types.find((one) => one.id === each)
        if (!type) return each === '*' ? words.automation.says.anything : each
        return (isOne ? nameOf(type, each) : pluralOf(type)).toLowerCase()
      })
      .join(', ')
  const links = (end: 'source' | 'target') => {
    const isOf = (link: LinkType) => link[`${end}_record_types`].some((each) => each === id || each === '*')
    const other = end === 'source' ? 'target' : 'source'
    return config.data.relationship_types.filter(isOf).map((link) => (
      <li key={`${end}/${link.id}`}>
        <Text>{link.name ?? link.id}</Text>{' '}
        <span className="meta">
          {words.types.links[end](
            FEW[link.cardinality][end],
            called(link[`${other}_record_types`], FEW[link.cardinality][end]),
          )}
        </span>
      </li>
    ))
  }
  const users = usersOf(config.data, id)
  const all = [...links('source'), ...links('target')]
  return (
    <>
      {all.length > 0 && (
        <CardItem title={words.types.linked}>
          <ul className="plain-list">{all}</ul>
        </CardItem>
      )}
      {users.length > 0 && (
        <CardItem title={words.types.users}>
          <ul className="plain-list">
            {users.map((user) => {
              const kind = user.list.slice(0, -1)
              const address = AUTOMATIC.some((list) => list === user.list)
                ? to.automation(base, { kind, id: user.id })
                : user.list === 'endpoints' && to.endpoint(base, user.id)
              const name = <Text>{user.name}</Text>
              return (
                <li key={`${kind}/${user.id}`}>
                  {address ? <Link href={address}>{name}</Link> : name}{' '}
                  <span className="meta">{kindName(kind)}</span>
                </li>
              )
            })}
          </ul>
        </CardItem>
      )}
    </>
  )
}

/** Who changed a record type, when, and what: the newest first. */
function Versions({ base, type }: { base: string; type: string }) {
  const story = useStory(base, type)
  return (
    <CardItem title={words.record.history}>
      {pendingOf(story, 3)}
      <ul className="plain-list">
        {story.data?.map(({ version, operation, at, actor, request_id: request, rows, others }) => (
          <li key={version} className="stack gap-1 py-1">
            <p className="chips">
              <Who {...actor} />
              <Link href={to.request(base, request)} aria-label={words.types.request(version)}>
                {words.record.short(version)}
              </Link>
              <span className="meta">
                {words.record.operations[operation]} <Time at={at} as="ago" />
              </span>
            </p>
            {operation === 'update' && rows.length > 0 && <SchemaChange rows={rows} isNewType={false} />}
            {operation === 'update' && others.length > 0 && <ChangesInTable changes={changesOf(others)} />}
          </li>
        ))}
      </ul>
    </CardItem>
  )
}
