import { useSyncExternalStore } from 'react'

const NARROW = matchMedia('(max-width: 47rem)')
const listen = (listener: () => void) => {
  NARROW.addEventListener('change', listener)
  return () => NARROW.removeEventListener('change', listener)
}
/** A phone shows the title, the state and when it changed. */
export const useNarrow = (): boolean => useSyncExternalStore(listen, () => NARROW.matches)
