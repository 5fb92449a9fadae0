/** The undo that a person asked for, wherever that was: one dialog for all pages, and for the way back in a toast. */
import type { ReactNode } from 'react'
import { storeOf } from '../../api/store.ts'

export type Undo = {
  base: string
  /** The body of the undo: which changes. */
  of: Record<string, unknown>
  /** Whose changes, made how and when. */
  about?: ReactNode
}

export const asked = storeOf<Undo | undefined>(undefined)
export const askUndo = (undo: Undo): void => asked.set(undo)
