import { useCallback } from 'react'
import type { Change } from '../../parts/search.ts'
import { useKey } from '../../shell/keys.tsx'

/** `[` and `]`: the version before and after. */
export function useVersionKeys(shown: number, last: number, change: Change): void {
  const go = useCallback(
    (version: number) => {
      if (version >= 1 && version <= last) change({ v: version === last ? undefined : String(version) }, true)
    },
    [change, last],
  )
  useKey(
    '[',
    useCallback(() => go(shown - 1), [go, shown]),
  )
  useKey(
    ']',
    useCallback(() => go(shown + 1), [go, shown]),
  )
}
