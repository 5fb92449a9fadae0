/** What others change while a list is open. */
import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import { send } from '../../api/send.ts'
import type { Page } from '../../api/shapes.ts'
import { useChanges } from '../../api/stream.ts'
import { type Linked, listPath } from './load.ts'

const FRESH_MS = 2000
/** Rows are read again with the first changes that come, then at most twice a second. */
const TOGETHER_MS = 500

/** What others change while the list is open: rows in sight are read again in place, and all of them are counted. */
export function useFreshRows(base: string, type: string, stamp: number) {
  const client = useQueryClient()
  const [changed, setChanged] = useState<ReadonlySet<string>>(new Set())
  const [fresh, setFresh] = useState<ReadonlySet<string>>(new Set())
  const waiting = useRef(new Set<string>())
  const readAt = useRef(0)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const read = useCallback(async () => {
    timer.current = undefined
    readAt.current = Date.now()
    const path = listPath(base, type)
    const queryKey = [{ rows: path }]
    const all = [...waiting.current]
    waiting.current = new Set()
    setChanged((so) => new Set([...so, ...all]))
    const shown = new Set(
      client
        .getQueriesData<Page<Linked>>({ queryKey })
        .flatMap(([, page]) => page?.data.map(({ id }) => id) ?? []),
    )
    const ids = all.filter((id) => shown.has(id)).slice(0, 1000)
    if (ids.length === 0) return
    const body = { filter: { field: 'id', op: 'in', value: ids }, limit: ids.length }
    const now = await send<Page<Linked>>('POST', path, body).catch(() => undefined)
    const found = new Map(now?.data.map((row) => [row.id, row]))
    client.setQueriesData<Page<Linked>>(
      { queryKey },
      (page) => page && { ...page, data: page.data.map((row) => ({ ...row, ...found.get(row.id) })) },
    )
    setFresh(new Set(found.keys()))
    setTimeout(() => setFresh(new Set()), FRESH_MS)
  }, [base, type, client])
  useChanges(
    useCallback(
      (change) => {
        if (change.kind !== 'record' || change.record_type !== type) return
        waiting.current.add(change.id)
        const wait = Math.max(0, readAt.current + TOGETHER_MS - Date.now())
        timer.current ??= setTimeout(() => void read(), wait)
      },
      [type, read],
    ),
  )
  // A list that is opened again knows of no change.
  const [of, setOf] = useState(stamp)
  if (of !== stamp) {
    setOf(stamp)
    setChanged(new Set())
  }
  useEffect(() => () => clearTimeout(timer.current), [])
  return { changed: changed.size, fresh }
}
