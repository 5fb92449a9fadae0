/** Puts values in the place of templates. What comes out is never expanded again. */
import { invalid } from '../../../foundation/errors.ts'
import { pointer } from '../../../json/parse.ts'
import { hasTemplate, type Path, parseTemplate, type Reference } from './parse.ts'

/** What templates read. */
export type Values = {
  readonly input: unknown
  /** What each earlier step did; null for one that was left out, `UNKNOWN` for one that a dry run did not do. */
  readonly steps: ReadonlyMap<string, unknown>
  secret(name: string): string
}

/** The result of a step that was not done. */
export const UNKNOWN = Symbol('unknown')

/** A template reads the result of a step that was not done. */
export class NeedsUnknown extends Error {
  override readonly name = 'NeedsUnknown'
}

/** Characters that all values may still add. The length of a value is measured once. */
export class TextBudget {
  #left: number
  readonly #most: number
  readonly #sizes = new WeakMap<object, number>()

  constructor(most: number) {
    this.#left = most
    this.#most = most
  }

  /** @throws VALIDATION_ERROR when it is spent */
  take(value: unknown, at: string): void {
    this.#left -= this.#sizeOf(value)
    if (this.#left >= 0) return
    throw invalid({
      path: at,
      code: 'too_large',
      message: `With the values of its templates it has more than ${this.#most} characters. Use fewer or shorter values.`,
      expected: this.#most,
    })
  }

  #sizeOf(value: unknown): number {
    if (typeof value === 'string') return value.length
    if (typeof value !== 'object' || value === null) return 8
    const known = this.#sizes.get(value) ?? JSON.stringify(value).length
    this.#sizes.set(value, known)
    return known
  }
}

/**
 * A copy of the value with its templates replaced. A string that is one template becomes the value that it reads;
 * undefined if there is none, which takes the property away.
 * @throws VALIDATION_ERROR at the string whose value does not fit; NeedsUnknown
 */
export function render(value: unknown, values: Values, budget: TextBudget, at = ''): unknown {
  if (typeof value === 'string') return hasTemplate(value) ? renderText(value, values, budget, at) : value
  if (Array.isArray(value))
    return value.map((each, n) => render(each, values, budget, `${at}${pointer(n)}`) ?? null)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).flatMap(([key, each]): [string, unknown][] => {
    const made = render(each, values, budget, at + pointer(key))
    return made === undefined ? [] : [[key, made]]
  })
  return Object.fromEntries(members)
}

function renderText(text: string, values: Values, budget: TextBudget, at: string): unknown {
  const parts = parseTemplate(text, at)
  const [first] = parts
  if (parts.length === 1 && typeof first === 'object') {
    const value = resolve(first, values)
    budget.take(value, at)
    return value
  }
  return renderParts(parts, values, budget, at, (part) => part)
}

/** The text with the values of its templates, each passed through `encode`. */
export function renderParts(
  parts: readonly (string | Reference)[],
  values: Values,
  budget: TextBudget,
  at: string,
  encode: (text: string) => string,
): string {
  return parts
    .map((part) => {
      if (typeof part === 'string') return part
      const made = encode(textOf(part, values, at))
      budget.take(made, at)
      return made
    })
    .join('')
}

/** A value within text: nothing for null and for what is absent. */
function textOf(part: Reference, values: Values, at: string): string {
  const value = resolve(part, values)
  if (value === undefined || value === null) return ''
  if (typeof value !== 'object') return String(value)
  throw invalid({
    path: at,
    code: 'not_text',
    message: `{{${part.text}}} is ${Array.isArray(value) ? 'an array' : 'an object'}, which cannot be a part of a text. Name a member of it, or let the string be this template alone.`,
  })
}

/** The value that a template reads; undefined if there is none. @throws NeedsUnknown */
export function resolve(reference: Reference, { input, steps, secret }: Values): unknown {
  if (reference.kind === 'secret') return secret(reference.name)
  const root = reference.kind === 'input' ? input : steps.get(reference.step)
  if (root === UNKNOWN) throw new NeedsUnknown()
  // A step that was left out gives null, so that the property of its reader is there.
  if (root === null && reference.kind === 'step') return null
  return reach(root, reference.path)
}

/** The value at a path; undefined if there is none. Own members only. */
function reach(root: unknown, path: Path): unknown {
  let value = root
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined
    if (Array.isArray(value)) value = /^\d+$/.test(String(key)) ? value[Number(key)] : undefined
    else value = Object.hasOwn(value, key) ? (value as Record<string | number, unknown>)[key] : undefined
  }
  return value
}
