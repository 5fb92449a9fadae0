/** What a change of a record type means, field by field in words. */
import type { Schema } from '../api/shapes.ts'
import { words } from '../words.ts'
import { Arrow } from './diff.tsx'
import type { FieldRow } from './schema.ts'
import { Chip, fieldName, Text } from './text.tsx'
import { Value } from './value.tsx'

export const SchemaChange = ({ rows, isNewType }: { rows: readonly FieldRow[]; isNewType: boolean }) => (
  <dl className="change-table">
    {rows.map((row) => (
      <div key={row.name}>
        <Text in="dt">{fieldName(row.name)}</Text>
        <dd>
          <FieldChange row={row} isNewType={isNewType} />
        </dd>
      </div>
    ))}
  </dl>
)

/** A field in words: what is new is green, what goes is struck out. */
function FieldChange({ row, isNewType }: { row: FieldRow; isNewType: boolean }) {
  const { before, after, isNeeded, wasNeeded } = row
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
        <span>
          <del>{old}</del>
          <Arrow />
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
