/** One resource that a promotion would change: a record type field by field in words, the others by their settings. */
import { useRead } from '../../api/queries.ts'
import { pathOf } from '../../api/send.ts'
import type { Page, RecordType, Schema } from '../../api/shapes.ts'
import { Chip, type Tone } from '../../parts/chip.tsx'
import { ChangesInTable, changesOf } from '../../parts/diff.tsx'
import { Icon, type IconName } from '../../parts/icon.tsx'
import { Text } from '../../parts/plain-text.tsx'
import { kindName } from '../../parts/previews.ts'
import { fieldName } from '../../parts/text.ts'
import { Value } from '../../parts/value.tsx'
import { words } from '../../words.ts'
import type { Edit } from './load.ts'
import { type FieldRow, fieldRows, otherSteps, sidesOf } from './schema.ts'
import { nameOfEdit } from './title.ts'

type Props = { base: string; edit: Edit; types: readonly RecordType[] }

const ICONS: Readonly<Record<string, IconName>> = {
  record_type: 'table',
  relationship_type: 'link',
  file_type: 'files',
  trigger: 'automation',
  inbound_webhook: 'automation',
  endpoint: 'agents',
  toolset: 'agents',
}
export const TONES: Readonly<Record<Edit['op'], Tone>> = {
  create: 'added',
  update: 'changed',
  delete: 'removed',
}

export function ResourceChange({ base, edit, types }: Props) {
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
        <Chip tone={TONES[op]}>
          {op === 'update' ? words.review.changes(rows.length + settings.length) : words.review.states[op]}
        </Chip>
      </header>
      {rows.length > 0 && (
        <dl className="review-fields">
          {rows.map((row) => (
            <div key={row.name}>
              <dt>
                <Text>{fieldName(row.name)}</Text>
              </dt>
              <dd>
                <FieldChange row={row} isNewType={op === 'create'} />
              </dd>
            </div>
          ))}
        </dl>
      )}
      {settings.length > 0 && <ChangesInTable changes={settings} />}
      {op === 'delete' && isType && <Deleted base={base} type={id} />}
    </section>
  )
}

function Deleted({ base, type }: { base: string; type: string }) {
  const total = useRead<Page<unknown>>(pathOf([base, 'records', type], { limit: 1, include_total: true }))
    .data?.meta.total
  return total ? <p className="card-item amber-word">{words.review.goWithIt(total)}</p> : null
}

/** A field in words: what is new is green, what goes is struck out. */
function FieldChange({
  row: { before, after, isNeeded, wasNeeded },
  isNewType,
}: {
  row: FieldRow
  isNewType: boolean
}) {
  const [old, next] = [before && words.schema.of(before), after && words.schema.of(after)]
  const enums = before?.enum && after?.enum
  return (
    <span className="items">
      {!before && after && (
        <ins>
          {isNewType ? '' : words.review.newField}
          {next}
        </ins>
      )}
      {before && !after && <del>{old}</del>}
      {before && after && enums && <Choices before={before} after={after} />}
      {!before && after?.enum && <Choices before={{ enum: after.enum }} after={after} />}
      {before && after && !enums && old !== next && (
        <span className="change">
          <del>{old}</del>
          <span className="arrow" role="img" aria-label={words.becomes}>
            →
          </span>
          <ins>{next}</ins>
        </span>
      )}
      {before && after && !enums && old === next && wasNeeded === isNeeded && (
        <span className="meta">{words.review.otherRules}</span>
      )}
      {isNeeded && !wasNeeded && <ins>{words.schema.needed}</ins>}
      {wasNeeded && !isNeeded && after && <del>{words.schema.needed}</del>}
    </span>
  )
}

function Choices({ before, after }: { before: Schema; after: Schema }) {
  const [old, next] = [before.enum ?? [], after.enum ?? []]
  return (
    <>
      {old
        .filter((value) => !next.includes(value))
        .map((value) => (
          <del key={`-${value}`}>
            <Value value={value} />
          </del>
        ))}
      {next.map((value) =>
        old.includes(value) ? (
          <Chip key={String(value)}>{String(value)}</Chip>
        ) : (
          <ins key={`+${value}`}>
            <Value value={value} />
          </ins>
        ),
      )}
    </>
  )
}
