/** What was deleted: who did it, when, until when it can come back, and the way back. */
import { useState } from 'react'
import { type Deleted, pathOf, type RecordType, type Row, useWrite } from '../../api/queries.ts'
import { useNarrow } from '../../api/store.ts'
import { Empty, Failure, say } from '../../parts/answer.tsx'
import { Button } from '../../parts/button.tsx'
import { useMay } from '../../parts/grants.ts'
import { type Column, Grid } from '../../parts/grid.tsx'
import { counted, pluralOf, titleOf } from '../../parts/record-types.ts'
import { Text, Time } from '../../parts/text.tsx'
import { Who } from '../../parts/who.tsx'
import { words } from '../../words.ts'
import { useTrash } from './load.ts'

export function DeletedList({ base, type }: { base: string; type: RecordType }) {
  const [stamp, setStamp] = useState(0)
  const list = useTrash(base, type.id, stamp)
  const isNarrow = useNarrow()
  const write = useWrite<Row>(base)
  const mayWrite = useMay(base, type.id, 'write')
  const [back, setBack] = useState<readonly string[]>([])
  const restore = (row: Deleted) =>
    write.send('POST', pathOf([base, 'records', type.id, row.id, 'restore']), undefined, () => {
      setBack((so) => [...so, row.id])
      setStamp(Date.now())
      say(words.records.restored(titleOf(row, type)))
    })
  const restoring = (row: Deleted) => (
    <Button
      {...(isNarrow ? { icon: 'undo' } : { label: words.records.restore })}
      disabled={write.isPending || !mayWrite || back.includes(row.id)}
      title={mayWrite ? undefined : words.mayNotWrite}
      aria-label={`${words.records.restore}: ${titleOf(row, type)}`}
      onClick={() => restore(row)}
    />
  )
  const heads = words.records
  const title = (row: Deleted) => <Text className="medium two-lines">{titleOf(row, type)}</Text>
  const by = (row: Deleted) => <Who {...row.deleted_by} />
  const at = (row: Deleted) => <Time at={row.deleted_at} />
  const until = ({ expires_at: end }: Deleted) => (end === null ? heads.forever : <Time at={end} />)
  const act = <span className="hidden">{heads.restore}</span>
  const columns: Column<Deleted>[] = [
    { name: 'title', head: heads.record, width: isNarrow ? 8.5 : 22, cell: title },
    { name: 'by', head: heads.deletedBy, width: isNarrow ? 6 : 14, cell: by },
    { name: 'at', head: words.when, width: isNarrow ? 3.75 : 8, cell: at },
    ...(isNarrow ? [] : [{ name: 'until', head: heads.until, width: 10, cell: until }]),
    { name: 'select', head: act, width: isNarrow ? 3 : 8, cell: restoring },
  ]
  if (list.error) return <Failure of={list.error} onRetry={() => void list.refetch()} />
  if (!list.isPending && list.total === 0)
    return <Empty title={words.records.noneDeleted(pluralOf(type).toLowerCase())} />
  return (
    <>
      {write.error && <Failure of={write.error} />}
      <Grid
        label={words.record.deleted(pluralOf(type).toLowerCase())}
        columns={columns}
        rows={list.rows}
        total={list.total}
        keyOf={({ id }) => id}
        onOpen={() => undefined}
        onSight={list.onSight}
      />
      <footer className="line meta over records-foot">
        {counted(list.total, [type], type.id, 'record')}
      </footer>
    </>
  )
}
