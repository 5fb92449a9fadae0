import pino, { type DestinationStream } from 'pino'

/** What a piece has at least, in characters, and how long a line waits at most. */
const PIECE = 65_536
const WAIT_MS = 250

/**
 * The log on standard error, written in pieces: one write per line would cost as much as the rest of a small request.
 * The lines are collected here, because the destination of pino reads all that it has collected again at each line.
 */
export function logInPieces(): DestinationStream & { flush(done?: () => void): void; flushSync(): void } {
  const destination = pino.destination({ dest: 2, sync: false, minLength: 1, maxWrite: 2 * PIECE })
  let lines = ''
  let late: NodeJS.Timeout | undefined
  const pass = () => {
    clearTimeout(late)
    late = undefined
    if (lines === '') return
    const piece = lines
    lines = ''
    destination.write(piece)
  }
  const flushSync = () => {
    pass()
    destination.flushSync()
  }
  process.once('beforeExit', pass)
  process.once('exit', flushSync)
  return {
    write(line) {
      lines += line
      if (lines.length >= PIECE) pass()
      else late ??= setTimeout(pass, WAIT_MS).unref()
    },
    flush(done) {
      pass()
      destination.flush(done)
    },
    flushSync,
  }
}
