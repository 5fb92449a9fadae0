/** What previews and the kinds of what they change are called. */
import { words } from '../words.ts'

/** `csat` of `desk--csat`. */
export const shortName = (preview: string): string => preview.split('--').at(-1) ?? preview

export const kindName = (kind: string): string => words.review.kindNames[kind] ?? kind.replaceAll('_', ' ')
