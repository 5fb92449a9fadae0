/** Parameters of the address as state. */
import { useCallback } from 'react'
import { navigate, useSearch as useText } from 'wouter/use-browser-location'
import { changed, parse, type Search } from '../addresses.ts'

export type Change = (changes: Search, refines?: boolean) => void

/** The parameters, and how to change some. A change is a new entry of the history, unless it only refines the last. */
export function useParameters(): [Search, Change] {
  const text = useText()
  const change = useCallback<Change>((changes, refines = false) => {
    navigate(location.pathname + changed(location.search, changes), { replace: refines })
  }, [])
  return [parse(text), change]
}
