import { Button, Icon } from '../../parts/button.tsx'
import { ListPage, Table } from '../../parts/card.tsx'
import { EditType } from './edit.tsx'
import './types.css'
import { useState } from 'react'
import { type PageProps, to } from '../../addresses.ts'
import { type RecordType, useBase, useRecordCounts, useTypes } from '../../api/queries.ts'
import { Empty } from '../../parts/answer.tsx'
import { useMay } from '../../parts/grants.ts'
import { pluralOf } from '../../parts/record-types.ts'
import { Text, Time, whole } from '../../parts/text.tsx'
import { words } from '../../words.ts'
import { TypePanel } from './type-panel.tsx'

export default function Page({ place: { base, type: id } }: PageProps) {
  const [isMaking, setMaking] = useState(false)
  const types = useTypes(base)
  const all = types.data ?? []
  const counts = useRecordCounts(base, all)
  const isProtected = useProtected(base)
  const mayMake = useMay(base, '*', 'manage') && !isProtected
  const open = all.find((type) => type.id === id)
  const heads = words.types.heads
  return (
    <ListPage
      nav={words.nav.types}
      title={words.types.title}
      about={isProtected ? words.types.protected : words.types.about}
      isOpen={id !== undefined}
      tools={mayMake && <Button icon="plus" label={words.types.make} onClick={() => setMaking(true)} />}
      gone={id !== undefined && !open && types.data && words.types.gone}
      panel={
        <>
          {open && (
            <TypePanel key={id} base={base} type={open} count={counts[open.id]} isProtected={isProtected} />
          )}
          {isMaking && <EditType base={base} onClose={() => setMaking(false)} />}
        </>
      }
    >
      <Table
        reading={types}
        empty={<Empty title={words.types.none} hint={words.types.noneHint} />}
        label={words.types.title}
        rows={all}
        keyOf={(type) => type.id}
        addressOf={(type) => to.types(base, type.id)}
        selected={id}
        columns={[
          [heads.name, (type) => <Name of={type} />],
          [
            heads.about,
            ({ description }) => description !== null && <Text>{description}</Text>,
            'wide-only meta kind-cell sentence-cell',
          ],
          [
            heads.fields,
            ({ json_schema: { properties = {} } }) => whole.format(Object.keys(properties).length),
            'number-cell',
          ],
          [heads.records, (type) => numberOf(counts[type.id]), 'number-cell'],
          [heads.changed, ({ updated_at: at }) => <Time at={at} as="span" />, 'number-cell wide-only'],
        ]}
      />
    </ListPage>
  )
}

/** Whether the base takes changes of its types from previews only. */
function useProtected(base: string): boolean {
  const { data } = useBase(base)
  return data?.environment === 'production' && data.settings.schema_changes === 'preview_only'
}

const Name = ({ of: type }: { of: RecordType }) => (
  <span className="who">
    <Icon name="table" />
    <Text>{pluralOf(type)}</Text>
  </span>
)
const numberOf = (count: number | undefined) => (count === undefined ? '' : whole.format(count))
