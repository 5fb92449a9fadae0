import type { Db } from '../database/client.ts'
import { type Feed, openFeed } from './feed.ts'
import { openStreams, type Streams } from './streams.ts'
import { openTails, type Tail } from './tail.ts'

/** All that a process keeps of the change log for those who wait for it. */
export type ChangeFeed = Omit<Feed, 'close'> & {
  /** Joins the end of a base's log; whoever joins leaves it. */
  tailOf(baseId: string): Tail
  openStream: Streams['open']
  /** Ends every stream; none opens any more. */
  endStreams(): void
  close(): void
}

type Log = { warn(fields: object, message: string): void }

export function openChangeFeed(db: Db, log: Log): ChangeFeed {
  const feed = openFeed(db, log)
  const streams = openStreams(db, log)
  return {
    watch: feed.watch,
    settled: feed.settled,
    known: feed.known,
    tailOf: openTails(db, feed, log),
    openStream: streams.open,
    endStreams: streams.close,
    close: () => {
      streams.close()
      feed.close()
    },
  }
}
