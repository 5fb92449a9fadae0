/** Writers and a reader of a server that is in trouble: what it acknowledged, what failed and how, and what is lost. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { succeed } from './answers.ts'
import type { ChildServer } from './child-server.ts'

const WRITERS = 4
type Failure = { status: number; retries: string | null; code: string | undefined }
export type Writing = {
  acknowledged: ReadonlySet<string>
  failures: readonly Failure[]
  longestMs: () => number
  end(): Promise<void>
}

/** Starts four writers of records with `bytes` of text each, and a reader. */
export async function startWriting({ call }: ChildServer, bytes = 10): Promise<Writing> {
  succeed(await call('PUT', '/v1/bases/crm', {}), 201)
  succeed(await call('PUT', '/v1/crm/record-types/order', {}), 201)
  const acknowledged = new Set<string>()
  const failures: Failure[] = []
  const text = 'x'.repeat(bytes)
  let isOver = false
  let longestMs = 0
  const ask = async (method: string, path: string, body?: object): Promise<boolean> => {
    const begun = performance.now()
    const answer = await call(method, path, body)
    longestMs = Math.max(longestMs, performance.now() - begun)
    if (answer.status < 300) return true
    const code = answer.body.error?.details[0]?.code
    failures.push({ status: answer.status, retries: answer.headers.get('retry-after'), code })
    await sleep(100)
    return false
  }
  const write = async (writer: number) => {
    for (let n = 0; !isOver; n++)
      if (await ask('PUT', `/v1/crm/records/order/w${writer}-${n}`, { data: { n, text } }))
        acknowledged.add(`w${writer}-${n}`)
  }
  const read = async () => {
    while (!isOver) await ask('GET', '/v1/crm/records/order?limit=5&fields=id')
  }
  const running = [read(), ...Array.from({ length: WRITERS }, (_, writer) => write(writer))]
  return {
    acknowledged,
    failures,
    longestMs: () => longestMs,
    end: async () => {
      isOver = true
      await Promise.all(running)
    },
  }
}

/** Who may send it again is told so; of the others it is not known whether they were written. */
export function expectToldApart(failures: readonly Failure[]): void {
  for (const { status, retries, code } of failures)
    expect([status >= 500, retries === null, code]).toEqual([true, code === 'outcome_unknown', code])
}

/** The ids of all entries of the change log about orders, in its order. */
export async function feedOf({ call }: Pick<ChildServer, 'call'>): Promise<string[]> {
  const feed: string[] = []
  for (let after = 0; ; ) {
    const { data, meta } = succeed(
      await call('GET', `/v1/crm/changes?record_type=order&after=${after}&limit=500`),
    )
    feed.push(...data.map(({ id }: { id: string }) => id))
    if (!meta.has_more) return feed
    after = meta.next_after
  }
}

/** The acknowledged ids that the change log does not have. */
export async function lostOf(server: ChildServer, acknowledged: ReadonlySet<string>): Promise<string[]> {
  const kept = new Set(await feedOf(server))
  return [...acknowledged].filter((id) => !kept.has(id))
}
