import { DomainError } from '../../foundation/errors.ts'
import { LIMITS } from '../../foundation/limits.ts'
import { type Context, grantsName, outliving } from '../../graphql/context.ts'
import { graphql, type ResultOf } from '../../graphql/document.ts'
import { compileSubscription, staticOperation } from '../../graphql/execute.ts'
import type { ResourceName } from '../protocol/resource-uri.ts'
import { type FilteredList, filteredList } from './filtered-list.ts'

const Entries = graphql(
  `subscription WatchBase($base: String!) { changes(base: $base) { seq kind recordType id } }`,
)
const readLog = compileSubscription(Entries)
const match =
  staticOperation(`query WatchedMatch($base: String!, $type: String!, $filter: JSON, $condition: JSON, $seqs: [Float!]!) {
    changesMatch(base: $base, recordType: $type, filter: $filter, condition: $condition, seqs: $seqs)
  }`)
type Entry = ResultOf<typeof Entries>['changes']

/** A subscribed resource. A list has its filter and its condition on changes as JSON; null for none. */
export type Followed =
  | Extract<ResourceName, { kind: 'type' | 'record' | 'file' }>
  | FollowedList
  | FollowedFiles
type FollowedFiles = { kind: 'files'; base: string; type: string; prefix: string }
type FollowedList = { kind: 'records'; base: string; type: string; filter: unknown; condition: unknown }
/**
 * A subscriber. `over` is called if the subscription ends by itself: the token, the base or the server is
 * gone.
 */
type Follower = { notify: () => void; over: () => void }
/** Adds a subscriber and returns its unsubscribe function; undefined if the log is not read any more. */
type Watched = { add(what: Followed, follower: Follower): (() => void) | undefined }

/**
 * Shared readers by server, token, grants and base: subscribers with equal rights share one read of the
 * change log.
 */
const ofServers = new WeakMap<object, Map<string, Promise<Watched>>>()

/**
 * Subscribes to changes of a resource, read from the change log of its base. Changes in one event loop turn
 * are reported once. Returns the unsubscribe function.
 * @throws RATE_LIMITED, FORBIDDEN, NOT_FOUND
 */
export async function followResource(
  context: Context,
  what: Followed,
  follower: Follower,
): Promise<() => void> {
  for (;;) {
    const leave = (await watchedBase(context, what.base)).add(what, follower)
    if (leave) return leave
  }
}

function watchedBase(context: Context, base: string): Promise<Watched> {
  const { feed, actor } = context.scope
  const ofServer = ofServers.get(feed) ?? new Map<string, Promise<Watched>>()
  ofServers.set(feed, ofServer)
  const key = [actor.tokenId, grantsName(context), base].join('\n')
  const known = ofServer.get(key)
  if (known) return known
  const forget = () => {
    if (ofServer.get(key) === opening) ofServer.delete(key)
  }
  const opening = openWatched(outliving(context), base, forget)
  opening.catch(forget)
  ofServer.set(key, opening)
  return opening
}

async function openWatched(context: Context, base: string, onEnd: () => void): Promise<Watched> {
  const log = await readLog({ base }, context)
  const { on, notify } = openListeners<Entry>()
  const lists = new Map<string, FilteredList>()
  const followers = new Set<Follower>()
  let isOver = false

  const end = () => {
    isOver = true
    onEnd()
    for (const { over } of followers) over()
    followers.clear()
  }
  const read = async (): Promise<void> => {
    for await (const { changes: entry } of log) for (const topic of topicsOf(entry)) notify(topic, entry)
  }
  const listOf = ({ type, filter, condition }: FollowedList): FilteredList => {
    const key = `${type}\n${JSON.stringify([filter, condition])}`
    const known = lists.get(key)
    if (known) return known
    if (lists.size >= LIMITS.followedFilters) throw tooMany(LIMITS.followedFilters, 'different filters')
    const ask = async (seqs: readonly number[]) =>
      (await match({ base, type, filter, condition, seqs: [...seqs] }, context)).changesMatch
    const list = filteredList(ask, () => {
      lists.delete(key)
      off()
    })
    const off = on(`records ${type}`, ({ seq }) => list.note(seq))
    lists.set(key, list)
    return list
  }
  // A failed log ends like a closed one. A client that subscribes again gets the error.
  void read().then(end, end)
  return {
    add(what, follower) {
      if (isOver) return undefined
      if (followers.size >= LIMITS.followedOfToken)
        throw tooMany(LIMITS.followedOfToken, 'resources of a base')
      const { say, end } = coalesced(follower.notify)
      const isFiltered = what.kind === 'records' && (what.filter !== null || what.condition !== null)
      const sayIf = (entry: Entry) => {
        if (concerns(what, entry)) say()
      }
      const off = isFiltered ? listOf(what).add(say) : on(topicOf(what), sayIf)
      followers.add(follower)
      return () => {
        off()
        end()
        // The last subscriber is gone: stop reading. The next one opens the log again.
        if (!followers.delete(follower) || followers.size > 0) return
        isOver = true
        onEnd()
        void log.return?.()
      }
    },
  }
}

/** Whether an entry of the topic is about what is followed: a list of files can have a prefix. */
const concerns = (what: Followed, { id }: Entry): boolean =>
  what.kind !== 'files' || id.startsWith(`${what.type}/${what.prefix}`)

function topicOf(what: Followed): string {
  if (what.kind === 'record') return `record ${what.type} ${what.id}`
  if (what.kind === 'file') return `file ${what.type}/${what.path}`
  if (what.kind === 'files') return `files ${what.type}`
  return what.kind === 'type' ? `type ${what.type}` : `records ${what.type}`
}

/** Topics of a log entry. The resource of a type also shows its links. */
function topicsOf({ kind, recordType, id }: Entry): string[] {
  if (kind === 'record') return [`record ${recordType} ${id}`, `records ${recordType}`]
  if (kind === 'file') return [`file ${id}`, `files ${id.slice(0, id.indexOf('/'))}`]
  return kind === 'record_type' ? [`type ${id}`] : []
}

const tooMany = (most: number, what: string) =>
  new DomainError('RATE_LIMITED', `A token can subscribe to at most ${most} ${what}.`, {
    retryAfterSeconds: 1,
    details: [
      {
        path: '',
        code: 'too_many_streams',
        message: 'Unsubscribe from some, or subscribe to a list that contains them.',
        expected: most,
      },
    ],
  })

/** Event emitter with topics. */
type Listeners<T> = {
  /** Adds a listener and returns its unsubscribe function. */
  on(topic: string, listener: (event: T) => void): () => void
  notify(topic: string, what: T): void
}

function openListeners<T>(): Listeners<T> {
  const byTopic = new Map<string, Set<(event: T) => void>>()
  return {
    on(topic, listener) {
      const listeners = byTopic.get(topic) ?? new Set()
      byTopic.set(topic, listeners.add(listener))
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0 && byTopic.get(topic) === listeners) byTopic.delete(topic)
      }
    },
    notify(topic, what) {
      for (const listener of [...(byTopic.get(topic) ?? [])]) listener(what)
    },
  }
}

/** Coalesces calls in one event loop turn into one notification. Nothing is sent after `end`. */
function coalesced(notify: () => void): { say(): void; end(): void } {
  let isDue = false
  let isOver = false
  return {
    say() {
      if (isDue || isOver) return
      isDue = true
      setImmediate(() => {
        isDue = false
        if (!isOver) notify()
      })
    },
    end() {
      isOver = true
    },
  }
}
