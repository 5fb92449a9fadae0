/** Those who listen, each to one topic. */
export type Listeners<T> = {
  /** Answers how to end it. */
  on(topic: string, listener: (told: T) => void): () => void
  tell(topic: string, what: T): void
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
    tell(topic, what) {
      for (const listener of [...(byTopic.get(topic) ?? [])]) listener(what)
    },
  }
}

/** Tells once of all that is said in one go, and nothing after `end`. */
export function inOneGo(tell: () => void): { say(): void; end(): void } {
  let isDue = false
  let isOver = false
  return {
    say() {
      if (isDue || isOver) return
      isDue = true
      setImmediate(() => {
        isDue = false
        if (!isOver) tell()
      })
    },
    end() {
      isOver = true
    },
  }
}
