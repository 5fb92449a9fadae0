/** What the shared parts take of React, from Preact: a view has 60 kB in all. The build puts this in the place of `react`. */
import { useEffect, useState } from 'preact/hooks'

export { Fragment } from 'preact'
export { useId, useState } from 'preact/hooks'

export function useSyncExternalStore<Value>(
  listen: (changed: () => void) => () => unknown,
  get: () => Value,
): Value {
  const [value, set] = useState(get)
  useEffect(() => {
    const end = listen(() => set(get))
    return () => void end()
  }, [listen, get])
  return value
}
