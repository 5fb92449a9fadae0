/** Event emitter with topics. */
export type Listeners<T> = {
  /** Adds a listener and returns its unsubscribe function. */
  on(topic: string, listener: (told: T) => void): () => void
  notify(topic: string, what: T): void
}

export function openListeners<T>(): Listeners<T> {
  const byTopic = new Map<string, Set<(told: T) => void>>()
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
export function coalesced(notify: () => void): { say(): void; end(): void } {
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
