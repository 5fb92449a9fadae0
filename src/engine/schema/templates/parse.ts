/** Templates in the strings of a definition: `{{input.x}}`, `{{steps.a.id}}`, `{{secret:NAME}}`. */
import { invalid } from '../../../foundation/errors.ts'
import { LIMITS } from '../../../foundation/limits.ts'

/** What a template reads. */
export type Reference =
  | { readonly kind: 'input'; readonly path: Path; readonly text: string }
  | { readonly kind: 'step'; readonly step: string; readonly path: Path; readonly text: string }
  | { readonly kind: 'secret'; readonly name: string; readonly text: string }
/** Names of properties, and indexes of arrays. */
export type Path = readonly (string | number)[]

/** A string in parts: text as it is, and templates. */
export type Template = readonly (string | Reference)[]

const TEMPLATE = /\{\{([^{}]*)\}\}/g
const STEP = /\.([A-Za-z0-9_][A-Za-z0-9_-]*)/y
const SEGMENT = /\.([A-Za-z0-9_$-]+)|\[(\d{1,9})\]|\["((?:[^"\\]|\\.)*)"\]/y
const SECRET = /^secret:(.*)$/s

export const hasTemplate = (text: string): boolean => text.includes('{{') && text.search(TEMPLATE) >= 0

/**
 * Parses a string.
 * @throws VALIDATION_ERROR at `at` for a template of another form
 */
export function parseTemplate(text: string, at: string): Template {
  const parts: (string | Reference)[] = []
  let end = 0
  for (const match of text.matchAll(TEMPLATE)) {
    if (match.index > end) parts.push(text.slice(end, match.index))
    parts.push(parseReference(match[1] ?? '', at))
    end = match.index + match[0].length
  }
  if (end < text.length) parts.push(text.slice(end))
  return parts
}

function parseReference(inner: string, at: string): Reference {
  const secret = SECRET.exec(inner)
  if (secret) return { kind: 'secret', name: secret[1] ?? '', text: inner }
  const text = inner.trim()
  if (text.length <= LIMITS.fieldChars) {
    if (/^input(?![A-Za-z0-9_-])/.test(text)) {
      const path = pathFrom(text, 'input'.length)
      if (path) return { kind: 'input', path, text }
    }
    if (text.startsWith('steps.')) {
      STEP.lastIndex = 'steps'.length
      const name = STEP.exec(text)
      const path = name && pathFrom(text, STEP.lastIndex)
      if (name?.[1] !== undefined && path) return { kind: 'step', step: name[1], path, text }
    }
  }
  throw invalid({
    path: at,
    code: 'invalid_template',
    message: `"{{${text.slice(0, 64)}}}" is no template. Write {{input.name}}, {{steps.a.id}}, {{steps.a.data[0].id}} or {{secret:NAME}}.`,
    received: `{{${text.slice(0, 64)}}}`,
  })
}

/** What a path from `input` or `steps` reads, up to the first `[]`. */
export function referenceOf(segments: readonly (string | number | null)[], text: string): Reference {
  const end = segments.indexOf(null)
  const [root, ...path] = (end < 0 ? segments : segments.slice(0, end)) as Path
  if (root === 'input') return { kind: 'input', path, text }
  const [step = '', ...rest] = path
  return { kind: 'step', step: String(step), path: rest, text }
}

/** The segments from a place to the end of the text; undefined if there is something else. */
function pathFrom(text: string, from: number): Path | undefined {
  const path: (string | number)[] = []
  SEGMENT.lastIndex = from
  for (let at = from; at < text.length; at = SEGMENT.lastIndex) {
    const found = SEGMENT.exec(text)
    if (!found || path.length >= LIMITS.fieldSegments) return undefined
    const [, name, index, quoted] = found
    const key = name ?? (quoted === undefined ? Number(index) : unquoted(quoted))
    if (key === undefined) return undefined
    path.push(key)
  }
  return path
}

function unquoted(text: string): string | undefined {
  try {
    return JSON.parse(`"${text}"`) as string
  } catch {
    return undefined
  }
}

/** Calls `found` with each string that has templates, and its JSON Pointer. */
export function eachTemplate(
  value: unknown,
  at: string,
  pointer: (key: string | number) => string,
  found: (text: string, at: string) => void,
): void {
  const open: { value: unknown; at: string }[] = [{ value, at }]
  for (let next = open.pop(); next; next = open.pop()) {
    const { value: each, at: place } = next
    if (typeof each === 'string') {
      if (hasTemplate(each)) found(each, place)
    } else if (typeof each === 'object' && each !== null) {
      const members = Array.isArray(each) ? [...each.entries()] : Object.entries(each)
      for (const [key, member] of members.reverse()) open.push({ value: member, at: place + pointer(key) })
    }
  }
}

/** Whether a string in the value has a template. */
export function holdsTemplate(value: unknown): boolean {
  let holds = false
  eachTemplate(
    value,
    '',
    () => '',
    () => {
      holds = true
    },
  )
  return holds
}
