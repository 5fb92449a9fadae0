/** One resource that a promotion would change: a record type field by field in words, the others by their settings. */
import type { ReactNode } from 'react'
import { type Endpoint, type Page, pathOf, type RecordType, useRead } from '../../api/queries.ts'
import { Icon, type IconName } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { ChangesInTable, changesOf } from '../../parts/diff.tsx'
import { kindName, shortName } from '../../parts/proposal.ts'
import { fieldRows, otherSteps, sidesOf } from '../../parts/schema.ts'
import { SchemaChange } from '../../parts/schema-change.tsx'
import { Chip, EDITED, Text } from '../../parts/text.tsx'
import { words } from '../../words.ts'
import { type Edit, nameOfEdit, type Proposal } from './load.ts'

type Props = { base: string; edit: Edit; types: readonly RecordType[]; children?: ReactNode }

const ICONS: Readonly<Record<string, IconName>> = {
  record_type: 'table',
  relationship_type: 'link',
  file_type: 'files',
  trigger: 'automation',
  inbound_webhook: 'automation',
  endpoint: 'agents',
  toolset: 'agents',
}

export function ResourceChange({ base, edit, types, children }: Props) {
  const { kind, id, op, diff } = edit
  const isType = kind === 'record_type'
  const definition = types.find((type) => type.id === id)
  const { before, after } = isType && (definition || op === 'create') ? sidesOf(edit, definition) : {}
  const rows = before || after ? fieldRows(before, after) : []
  // Where the definition has changed meanwhile, all steps are shown as they are.
  const others = rows.length > 0 || after ? otherSteps(diff) : diff
  const settings = op === 'delete' ? [] : changesOf(others).filter(({ from, to }) => from !== to)
  return (
    <section className="card review-resource">
      <header>
        <Icon name={ICONS[kind] ?? 'more'} />
        <Text in="h2">{nameOfEdit(edit, types)}</Text>
        <span className="meta">{words.review.kinds[op](kindName(kind))}</span>
        <Chip tone={EDITED[op]}>
          {op === 'update' ? words.review.changes(rows.length + settings.length) : words.review.states[op]}
        </Chip>
        {children}
      </header>
      {rows.length > 0 && <SchemaChange rows={rows} isNewType={op === 'create'} />}
      {settings.length > 0 && <ChangesInTable changes={settings} />}
      {op === 'delete' && isType && <Deleted base={base} type={id} />}
    </section>
  )
}

function Deleted({ base, type }: { base: string; type: string }) {
  const total = useRead<Page<unknown>>(pathOf([base, 'records', type], { limit: 1, include_total: true }))
    .data?.meta.total
  return total ? <p className="card-item changed-word">{words.review.goWithIt(total)}</p> : null
}

export function Programs({ base, plan }: { base: string; plan: Proposal }) {
  const changed = new Set(
    plan.changes.filter(({ kind, op }) => kind === 'record_type' && op !== 'create').map(({ id }) => id),
  )
  const endpoints = useRead<Page<Endpoint>>(pathOf([base, 'endpoints'], { limit: 100 })).data?.data ?? []
  const users = endpoints.filter(({ tools }) => tools.some(({ record_type: type }) => changed.has(type)))
  const warnings = plan.meta?.warnings ?? []
  if (users.length + warnings.length === 0) return null
  return (
    <Card icon="ask" title={words.review.programs}>
      {users.map(({ id, name }) => (
        <p key={id} className="card-item">
          <span>
            {words.review.endpoint} <Text in="strong">{name ?? shortName(id)}</Text> {words.review.usesIt}
          </span>
        </p>
      ))}
      {warnings.map((warning) => (
        <Text in="p" key={warning} className="card-item">
          {warning}
        </Text>
      ))}
    </Card>
  )
}
