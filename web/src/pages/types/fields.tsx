/** The fields of a record type in words: what they hold, which are required, and which no two records share. */
import type { RecordType } from '../../api/shapes.ts'
import { Button } from '../../parts/button.tsx'
import { CardItem } from '../../parts/card.tsx'
import { termOf } from '../../parts/record-types.ts'
import { Chip, fieldName, Meta, Text } from '../../parts/text.tsx'
import { words } from '../../words.ts'

const MOST = 12
type Props = { type: RecordType; onEdit: ((field: string) => void) | undefined }

export function Fields({ type: { json_schema: schema, indexes }, onEdit }: Props) {
  const fields = Object.entries(schema.properties ?? {})
  const all = indexes.map(({ fields: terms, type, unique = false }) => ({
    fields: terms.map(termOf),
    kind: type === 'text' ? ('text' as const) : unique ? ('unique' as const) : ('quick' as const),
  }))
  const ofOne = (name: string) =>
    all.find(
      ({ fields: [field, second], kind }) =>
        field === `data.${name}` && second === undefined && kind !== 'text',
    )
  const several = all.filter(({ fields: { length }, kind }) => length > 1 || kind === 'text')
  return (
    <CardItem title={words.types.heads.fields}>
      {fields.length === 0 && <p className="meta">{words.types.noFields}</p>}
      <dl className="type-fields">
        {fields.map(([name, field]) => (
          <div key={name} className="stack py-1">
            <Text in="dt">{fieldName(name)}</Text>
            <dd>
              <span className="items">
                <span>{words.schema.of(field)}</span>
                {field.enum?.slice(0, MOST).map((value) => (
                  <Chip key={JSON.stringify(value)}>
                    {typeof value === 'string' ? value : JSON.stringify(value)}
                  </Chip>
                ))}
                {(field.enum?.length ?? 0) > MOST && (
                  <span className="meta">{words.andMore((field.enum?.length ?? 0) - MOST)}</span>
                )}
              </span>
              <span className="meta">
                {[
                  schema.required?.includes(name) && words.schema.needed,
                  words.types.alone[ofOne(name)?.kind ?? ''],
                ]
                  .filter(Boolean)
                  .join(' · ')}
              </span>
              {field.description !== undefined && <Meta>{field.description}</Meta>}
            </dd>
            {onEdit && (
              <dd>
                <Button
                  className="quiet"
                  icon="pen"
                  aria-label={words.types.editField(fieldName(name))}
                  onClick={() => onEdit(name)}
                />
              </dd>
            )}
          </div>
        ))}
      </dl>
      {several.map(({ fields: terms, kind }) => (
        <Text in="p" key={`${kind} ${terms}`} className="meta">
          {words.types.index[kind](terms.map(fieldName))}
        </Text>
      ))}
      {schema.additionalProperties !== false && <p className="meta">{words.types.isOpen}</p>}
    </CardItem>
  )
}
