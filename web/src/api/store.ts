import { useSyncExternalStore } from 'react'

/** A value outside of components, which are drawn again when it changes. */
export function storeOf<Value>(first: Value) {
  let value = first
  const listeners = new Set<() => void>()
  const listen = (listener: () => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
  return {
    get: () => value,
    set(next: Value) {
      value = next
      for (const listener of listeners) listener()
    },
    use: () => useSyncExternalStore(listen, () => value),
  }
}

const NARROW = matchMedia('(max-width: 47rem)')
const listenToWidth = (listener: () => void) => {
  NARROW.addEventListener('change', listener)
  return () => NARROW.removeEventListener('change', listener)
}
/** A phone shows the title, the state and when it changed. */
export const useNarrow = (): boolean => useSyncExternalStore(listenToWidth, () => NARROW.matches)
