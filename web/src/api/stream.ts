/** Follows the changes of a base while the tab is visible, and reads again what they concern. */
import { useQueryClient } from '@tanstack/react-query'
import { EventSourceParserStream } from 'eventsource-parser/stream'
import { useEffect, useState } from 'react'
import { Failure } from './failure.ts'
import { type Change, stale } from './queries.ts'
import { pathOf, request } from './send.ts'
import { useSession } from './session.ts'

/** `live` follows, `paused` waits for the tab to be seen, `off` ended for a reason that a person can see. */
export type Live = { state: 'live' | 'paused' | 'off'; reason?: string }

/** A hidden tab keeps its connection that long: browsers open six to a server. */
const HIDDEN_MS = 5000
const RETRY_MS = 2000
/** Changes of this time are read together. */
const TOGETHER_MS = 500

const listeners = new Set<(change: Change) => void>()

/** Hears each change of the base whose stream the frame follows. */
export function useChanges(hear: (change: Change) => void): void {
  useEffect(() => {
    listeners.add(hear)
    return () => void listeners.delete(hear)
  }, [hear])
}

export function useLive(base: string | undefined): Live {
  const client = useQueryClient()
  const [live, setLive] = useState<Live>({ state: 'paused' })
  const session = useSession()
  const token = session.state === 'in' ? session.token : undefined
  useEffect(() => {
    if (base === undefined || token === undefined) return
    let stop: AbortController | undefined
    let after: string | undefined
    let isAgain = false
    let hidden: ReturnType<typeof setTimeout> | undefined
    let again: ReturnType<typeof setTimeout> | undefined
    const concerned = new Set<string>()
    let reading: ReturnType<typeof setTimeout> | undefined
    const heard = (change: Change) => {
      for (const hear of listeners) hear(change)
      concerned.add(change.record_type ?? change.kind)
      reading ??= setTimeout(() => {
        reading = undefined
        stale(client, base, [...concerned])
        concerned.clear()
      }, TOGETHER_MS)
    }
    const follow = async () => {
      const mine = new AbortController()
      stop = mine
      try {
        const headers = after === undefined ? {} : { 'last-event-id': after }
        const answer = await request('GET', pathOf([base, 'changes', 'stream']), undefined, {
          signal: mine.signal,
          headers: { accept: 'text/event-stream', ...headers },
        })
        setLive({ state: 'live' })
        // What happened before the first change was heard is read; later the stream is taken up where it ended.
        if (isAgain && after === undefined) stale(client, base)
        isAgain = true
        const events = answer.body
          ?.pipeThrough(new TextDecoderStream())
          .pipeThrough(new EventSourceParserStream())
        for await (const { id, event, data } of events ?? []) {
          after = id ?? after
          if (event === 'change') heard(JSON.parse(data) as Change)
        }
        setLive({ state: 'paused' })
      } catch (error) {
        if (mine.signal.aborted) return
        const reason = (error as Error).message
        // Without the right to follow, or without a token, another try has the same answer.
        const isRefused = error instanceof Failure && error.status >= 400 && error.status < 429
        setLive(isRefused ? { state: 'off', reason } : { state: 'paused', reason })
        if (isRefused) return
      }
      if (!mine.signal.aborted) again = setTimeout(() => void follow(), RETRY_MS)
    }
    const leave = () => {
      stop?.abort()
      stop = undefined
      clearTimeout(again)
      setLive({ state: 'paused' })
    }
    const look = () => {
      clearTimeout(hidden)
      if (document.visibilityState === 'hidden') hidden = setTimeout(leave, HIDDEN_MS)
      else if (!stop) void follow()
    }
    look()
    document.addEventListener('visibilitychange', look)
    return () => {
      document.removeEventListener('visibilitychange', look)
      clearTimeout(hidden)
      clearTimeout(reading)
      leave()
    }
  }, [base, token, client])
  return live
}
