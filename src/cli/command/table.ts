/** Tables within the width of a terminal. */

const GAP = 2
/** The least width of a cut column. */
const LEAST = 8
/** A UUID is shown whole, where another column has room. */
const LONGEST_ID = 36
/** Characters that take two columns: East Asian ones and emoji. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u
/** Characters that take none: marks, joiners and selectors of variants. */
const NARROW = /[\p{Mn}\p{Me}\p{Cf}]/u

const widthOfChar = (char: string): number => (NARROW.test(char) ? 0 : WIDE.test(char) ? 2 : 1)
const isPlain = (text: string): boolean => /^[\x20-\x7e]*$/.test(text)
const widthOf = (text: string): number =>
  isPlain(text) ? text.length : [...text].reduce((sum, char) => sum + widthOfChar(char), 0)

export type Table = {
  /** Padded cells; the first line has the names. */
  readonly lines: readonly (readonly string[])[]
  /** Columns that have no room. */
  readonly hidden: readonly string[]
}

/**
 * Lays out a table. The first column names the row, so it is cut last; wide columns are cut to a common width, and
 * columns go from the end if they would be narrower than 8. Those of `whole` are not cut: of a moment, the end tells most.
 */
export function layOut(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  width: number,
  whole: readonly boolean[] = [],
): Table {
  const natural = columns.map((name, i) =>
    rows.reduce((most, row) => Math.max(most, widthOf(row[i] ?? '')), widthOf(name)),
  )
  let shown = columns.length
  while (shown > 1 && leastWidth(natural.slice(0, shown), width, whole) > width) shown--
  const widths = shareOut(natural.slice(0, shown), width, whole)
  const lines = [columns, ...rows].map((row) =>
    widths.map((room, i) => {
      const text = cut(row[i] ?? '', room)
      return i === shown - 1 ? text : text + ' '.repeat(room - widthOf(text) + GAP)
    }),
  )
  return { lines, hidden: columns.slice(shown) }
}

const gaps = ({ length }: readonly number[]): number => (length - 1) * GAP

/** The width of the first column, which names the row. */
const firstOf = ([first = 0]: readonly number[], width: number): number =>
  Math.min(first, Math.max(LEAST, Math.floor(width / 2), Math.min(LONGEST_ID, width - LEAST - GAP)))

function leastWidth(natural: readonly number[], width: number, whole: readonly boolean[]): number {
  const others = natural
    .slice(1)
    .reduce((sum, each, i) => sum + (whole[i + 1] ? each : Math.min(each, LEAST)), 0)
  return firstOf(natural, width) + others + gaps(natural)
}

/** Gives each column its natural width, or the largest width at which all fit. */
function shareOut(natural: readonly number[], width: number, whole: readonly boolean[]): number[] {
  const room = width - gaps(natural)
  if (natural.reduce((sum, each) => sum + each, 0) <= room) return [...natural]
  const [, ...others] = natural
  const first = others.length === 0 ? Math.min(natural[0] ?? 0, Math.max(1, room)) : firstOf(natural, width)
  let left = room - first
  const given = new Map<number, number>()
  const rank = ({ each, i }: { each: number; i: number }) => (whole[i + 1] ? 0 : each)
  const byWidth = others.map((each, i) => ({ each, i })).sort((one, other) => rank(one) - rank(other))
  for (const [n, { each, i }] of byWidth.entries()) {
    const most = whole[i + 1] ? each : Math.max(1, Math.floor(left / (byWidth.length - n)))
    const share = Math.min(each, most)
    given.set(i, share)
    left -= share
  }
  return [first, ...others.map((_, i) => given.get(i) ?? LEAST)]
}

/** Cuts a text to a width, with "…" at the end. */
function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  let kept = ''
  let used = 0
  for (const char of text) {
    used += widthOfChar(char)
    if (used > width - 1) break
    kept += char
  }
  return `${kept}…`
}
