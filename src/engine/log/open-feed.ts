import type { Log } from '../../foundation/log.ts'
import type { Db } from '../storage/database/client.ts'
import { type Feed, openFeed } from './feed.ts'
import { openStreams, type Streams } from './stream-limits.ts'
import { openTails, type Tail } from './tail.ts'

/** Change log services of a process: feed, tails and streams. */
export type ChangeFeed = Omit<Feed, 'close'> & {
  /** Joins the shared tail of a base's log. Release it with `leave`. */
  tailOf(baseId: string): Tail
  openStream: Streams['open']
  /** Ends all streams and rejects new ones. */
  endStreams(): void
  close(): void
}

export function openChangeFeed(db: Db, log: Log): ChangeFeed {
  const feed = openFeed(db, log)
  const streams = openStreams(db, log)
  return {
    watch: feed.watch,
    settledSeq: feed.settledSeq,
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
