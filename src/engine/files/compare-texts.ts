/** The unified diff of two texts. It runs in a thread, so it imports nothing but the library. */
import { formatPatch, structuredPatch } from 'diff'

/** Equal lines around a change. */
const CONTEXT = 4

/** What differs of two texts, with its context. `skipped`: lines before it. `lines`: those of both parts. */
export type Differing = {
  readonly before: string
  readonly after: string
  readonly skipped: number
  readonly lines: number
}

/** Leaves out the lines that two texts begin and end with in common. */
export function differing(before: string, after: string): Differing {
  const shorter = Math.min(before.length, after.length)
  let first = 0
  while (first < shorter && before.charCodeAt(first) === after.charCodeAt(first)) first++
  let start = lineStart(before, first)
  for (let n = 0; n < CONTEXT; n++) start = lineStart(before, start - 1)
  let end = 0
  while (end < shorter - first && before[before.length - 1 - end] === after[after.length - 1 - end]) end++
  let from = before.length - end
  for (let n = 0; n <= CONTEXT && from < before.length; n++) from = lineEnd(before, from)
  const parts = [before.slice(start, from), after.slice(start, after.length - (before.length - from))]
  const [one = '', other = ''] = parts
  return { before: one, after: other, skipped: linesIn(before, start), lines: linesIn(one) + linesIn(other) }
}

const lineStart = (text: string, at: number): number => (at > 0 ? text.lastIndexOf('\n', at - 1) + 1 : 0)
const lineEnd = (text: string, from: number): number => text.indexOf('\n', from) + 1 || text.length

function linesIn(text: string, upTo = text.length): number {
  let lines = 0
  for (let at = 0; at < upTo; at = lineEnd(text, at)) lines++
  return lines
}

export type Comparison = Differing & {
  readonly names: readonly string[]
  /** Milliseconds. */
  readonly timeout: number
  readonly maxEditLength: number
}

/** The diff; null for texts that have too little in common. */
export function make({ before, after, skipped, names, timeout, maxEditLength }: Comparison): string | null {
  const [one = '', other = ''] = names
  const patch = structuredPatch(one, other, before, after, '', '', {
    context: CONTEXT,
    timeout,
    maxEditLength,
  })
  if (!patch) return null
  for (const hunk of patch.hunks) {
    hunk.oldStart += skipped
    hunk.newStart += skipped
  }
  return formatPatch(patch)
}
