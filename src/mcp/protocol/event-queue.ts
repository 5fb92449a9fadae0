import { LIMITS } from '../../foundation/limits.ts'
import { type ServerEvent, serverMessage } from '../../http/sse.ts'

/**
 * Bounded queue of messages for an event stream, in order. A reader that exceeds the backlog limit is
 * disconnected.
 */
export class EventQueue implements AsyncIterator<ServerEvent> {
  /** Called once, when the reader disconnects or the queue is closed. */
  onEnd: () => void = () => {}
  #waiting: ServerEvent[] = []
  #bytes = 0
  #isOver = false
  #wake = () => {}

  get isOver(): boolean {
    return this.#isOver
  }
  send(message: object): void {
    this.#take(serverMessage(message))
  }
  /** Forwards a stream of events until it ends. */
  async drain(events: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const bytes of events) {
      if (this.#isOver) return
      this.#take(Buffer.from(bytes))
    }
    this.end()
  }
  #take(event: ServerEvent): void {
    if (this.#isOver) return
    if (this.#bytes > LIMITS.streamBacklogBytes) {
      this.#waiting = []
      this.end()
      return
    }
    this.#waiting.push(event)
    this.#bytes += event.length
    this.#wake()
  }
  /** Closes the queue: pending messages are still delivered, new ones are dropped. */
  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#wake()
    this.onEnd()
  }
  async next(): Promise<IteratorResult<ServerEvent, undefined>> {
    while (this.#waiting.length === 0 && !this.#isOver)
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    const event = this.#waiting.shift()
    if (!event) return { done: true, value: undefined }
    this.#bytes -= event.length
    return { done: false, value: event }
  }
  async return(): Promise<IteratorResult<ServerEvent, undefined>> {
    this.#waiting = []
    this.end()
    return { done: true, value: undefined }
  }
}
