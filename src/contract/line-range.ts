/** A range of lines in a request: `10-20`, `10-` for the rest, or `10` for one line. */
export const LINE_RANGE = /^(\d{1,9})(?:-(\d{1,9})?)?$/

/** The first and the last line; undefined if the text is no range. Without `to`, it goes on to the end. */
export function readLineRange(text: string): { from: number; to?: number } | undefined {
  const [, first, last] = LINE_RANGE.exec(text) ?? []
  if (first === undefined) return undefined
  const from = Number(first)
  if (!text.includes('-')) return { from, to: from }
  return { from, ...(last !== undefined && { to: Number(last) }) }
}
