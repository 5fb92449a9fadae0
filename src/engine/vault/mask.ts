/** Hides known secrets in text that others wrote, such as the answer of a receiver. */
import { REDACTED } from '../../foundation/redacted.ts'
import { decodeUnits, type Unit } from './decode-escapes.ts'

type Range = { readonly start: number; readonly end: number }

/**
 * The text without the secrets: as they are, and with the escapes of JSON and URLs, also one in another. `isCut`: the
 * text was cut at its end, where it may have the start of a secret.
 */
export function maskSecrets(text: string, secrets: readonly string[], isCut = false): string {
  const known = [...new Set(secrets)].filter((secret) => secret !== '')
  if (known.length === 0) return text
  const ranges: Range[] = []
  const find = (shown: string, wanted: string, rangeOf: (from: number, to: number) => Range) => {
    if (wanted === '') return
    for (let at = shown.indexOf(wanted); at >= 0; at = shown.indexOf(wanted, at + wanted.length))
      ranges.push(rangeOf(at, at + wanted.length))
    const cut = isCut ? startAtEnd(shown, wanted) : 0
    if (cut > 0) ranges.push({ start: rangeOf(shown.length - cut, shown.length).start, end: text.length })
  }
  for (const secret of known) find(text, secret, (start, end) => ({ start, end }))
  if (ESCAPE.test(text)) {
    const units = decodeUnits(text)
    const decoded = textOf(units)
    const rangeOf = (from: number, to: number) => ({
      start: (units[from] as Unit).start,
      end: (units[to - 1] as Unit).end,
    })
    for (const secret of known) find(decoded, textOf(decodeUnits(secret)), rangeOf)
  }
  return redacted(text, ranges)
}

/** Without one of these, a text has no escape. */
const ESCAPE = /[\\%+]/
const textOf = (units: readonly Unit[]): string => units.map(({ char }) => char).join('')

function redacted(text: string, ranges: Range[]): string {
  let shown = ''
  let at = 0
  for (const { start, end } of ranges.sort((one, other) => one.start - other.start)) {
    if (start >= at) shown += `${text.slice(at, start)}${REDACTED}`
    at = Math.max(at, end)
  }
  return shown + text.slice(at)
}

/** How many characters at the end of the text are the start of `form`, in linear time. */
function startAtEnd(text: string, form: string): number {
  const back = [0]
  for (let at = 1, held = 0; at < form.length; at++) {
    while (held > 0 && form[at] !== form[held]) held = back[held - 1] ?? 0
    if (form[at] === form[held]) held++
    back.push(held)
  }
  let held = 0
  for (const char of text.slice(-form.length).split('')) {
    while (held > 0 && (held === form.length || char !== form[held])) held = back[held - 1] ?? 0
    if (char === form[held]) held++
  }
  return held
}
