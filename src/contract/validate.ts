import type { z } from 'zod'
import { advised } from '../foundation/advised-requests.ts'
import { capped, type Detail, invalid } from '../foundation/errors.ts'
import { LIMITS } from '../foundation/limits.ts'
import { own } from '../foundation/own.ts'
import { pointer } from '../json/parse.ts'
import { missingDataWrapper } from './missing-data-wrapper.ts'
import { isShortFor, meantField, meantValue, resembling } from './suggest.ts'

/**
 * Maps the path of a value to the `path` of a detail: a JSON Pointer below `at`, or `path/…`, `query/…`,
 * `header/…`.
 */
export type Place = (path: readonly PropertyKey[]) => string

/** Names values in a JSON body by JSON Pointer below `at`; `''` is the whole body. */
export const inBody =
  (at = ''): Place =>
  (path) =>
    at + pointer(...path.map((segment) => (typeof segment === 'number' ? segment : String(segment))))

/** Names values in URL parameters or headers. */
export const inPart =
  (part: 'path' | 'query' | 'header'): Place =>
  (path) =>
    `${part}/${path.map(String).join('/')}`

/**
 * Refuses NUL, which PostgreSQL cannot store in text; a percent-escape can send it.
 * @throws VALIDATION_ERROR
 */
export function refuseNul(values: object, part: 'path' | 'query'): void {
  const named = Object.entries(values).find(([, value]) => String(value).includes('\0'))
  if (!named) return
  throw invalid({
    path: inPart(part)([named[0]]),
    code: 'invalid_text',
    message: 'Text holds no NUL (%00).',
  })
}

/** Returns a hint for an unknown key, for the value of a known one, or for an item of it; undefined if there is none. */
type Advice = (key: string, index?: number) => string | undefined
type Adviser = (known: readonly string[]) => Advice

/**
 * Validates a value against a zod shape and returns the parsed value. `adviser` supplies hints for unknown
 * keys.
 * @throws VALIDATION_ERROR with every fault and, if one can be computed, its correction
 */
export function check<S extends z.ZodType>(
  shape: S,
  value: unknown,
  place: Place,
  adviser?: Adviser,
): z.output<S> {
  const result = shape.safeParse(value, { reportInput: true })
  if (result.success) return result.data
  const [first, ...rest] = unwrapped(
    shape,
    value,
    place,
    faultsOf(shape, value, result.error, place, adviser),
  )
  throw invalid(first ?? { path: place([]), code: 'invalid', message: 'The value is not valid.' }, ...rest)
}

/** Puts the advice for content that is not in `data` in the place of the fault of `data`. */
function unwrapped(shape: z.ZodType, value: unknown, place: Place, faults: readonly Detail[]) {
  const at = place(['data'])
  const wrap = missingDataWrapper(shape, value, at)
  return wrap ? [wrap, ...faults.filter(({ path }) => path !== at)] : faults
}

/** Where one field is missing and one unknown field has a value for it, the one is meant by the other. */
function nameMissing(shape: z.ZodType, value: unknown, place: Place, details: Detail[]): void {
  const required = details.filter(({ code }) => code === 'required')
  const unknown = details.filter(({ code, hint }) => code === 'unknown_key' && hint === undefined)
  const [missing, key] = [required[0], unknown[0]]
  if (!missing || !key || required.length > 1 || unknown.length > 1) return
  const fields = (shape.def as { shape?: Record<string, z.ZodType> }).shape ?? {}
  const name = Object.keys(fields).find((each) => place([each]) === missing.path)
  const sent = Object.entries(value ?? {}).find(([each]) => place([each]) === key.path)
  if (name === undefined || !sent || !fields[name]?.safeParse(sent[1]).success) return
  Object.assign(key, { message: `${key.message} Did you mean "${name}"?`, hint: name })
}

/** The filter that finds a record by the external id in `value`, where `known` asks for its id. */
function filterOfPair(value: unknown, known: readonly string[]): string | undefined {
  if (!known.includes('id') || !['record_type', 'external_id'].some((name) => known.includes(name)))
    return undefined
  const conditions = ['external_id', 'external_source'].flatMap((field) => {
    const sent = own(Object(value), field)
    return typeof sent === 'string' ? { field, op: 'eq', value: sent } : []
  })
  const [first, second] = conditions
  if (first?.field !== 'external_id') return undefined
  return JSON.stringify(second ? { and: conditions } : first).slice(0, LIMITS.wrapperHintChars)
}
const OF_PAIR = /external_(?:id|source)$/
const findsByPair = () => `${advised('list_records')} finds the record with the filter in hint; send its id.`

/** Says once, at the missing id, how a record is found whose external id was sent. */
function leadToRecord(shape: z.ZodType, value: unknown, place: Place, details: Detail[]): Detail[] {
  const at = place(['id'])
  const missing = details.find(({ code, path }) => code === 'required' && path === at)
  const hint = missing && filterOfPair(value, keysAt(shape, []))
  if (!missing || hint === undefined) return details
  Object.assign(missing, { message: `${missing.message} ${findsByPair()}`, hint })
  return details.filter(({ code, path }) => code !== 'unknown_key' || !OF_PAIR.test(path))
}

/** Converts zod issues to details, up to the number that an error lists. The rest are only counted. */
function faultsOf(
  shape: z.ZodType,
  value: unknown,
  error: z.ZodError,
  place: Place,
  adviser?: Adviser,
): Detail[] {
  const details: Detail[] = []
  let total = 0
  // Made once: it reads the whole value.
  let advice: Advice | undefined
  const advise: Advice = (key, index) => {
    advice ??= adviser?.(keysAt(shape, []))
    return advice?.(key, index)
  }
  for (const issue of error.issues) {
    const room = LIMITS.errorDetails - details.length
    total += issue.code === 'unrecognized_keys' ? issue.keys.length : 1
    if (room === 0) continue
    for (const detail of toDetails(shape, issue, place, room, advise)) {
      // zod reports a number outside its own bounds and those of its kind twice. Keep one.
      if (isSaidBefore(detail, details.at(-1))) {
        details.pop()
        total--
      }
      details.push(detail)
    }
  }
  nameMissing(shape, value, place, details)
  const kept = leadToRecord(shape, value, place, details)
  return capped(kept, total - details.length + kept.length)
}

const isSaidBefore = (detail: Detail, before: Detail | undefined) =>
  detail.path === before?.path && detail.code === before.code

/** The faults of the one form whose kind of value was sent; undefined if none or several fit as far. */
function meantForm(forms: readonly z.core.$ZodIssue[][]): readonly z.core.$ZodIssue[] | undefined {
  const isWithin = ({ path, code }: z.core.$ZodIssue) => path.length > 0 || code === 'unrecognized_keys'
  const [meant, ...others] = forms.filter((faults) => faults.every(isWithin))
  return others.length === 0 ? meant : undefined
}

/** What the forms take, in words: kinds, and single values. */
function saidForms(forms: readonly z.core.$ZodIssue[][]): string {
  const each = forms.flatMap(([fault]) => {
    if (fault?.code === 'invalid_type') return [article(KINDS[fault.expected] ?? fault.expected)]
    return fault?.code === 'invalid_value' ? fault.values.map((value) => JSON.stringify(value)) : []
  })
  return each.length === 0 ? 'have another form' : `be ${[...new Set(each)].join(' or ')}`
}

function toDetails(
  shape: z.ZodType,
  issue: z.core.$ZodIssue,
  place: Place,
  most: number,
  advise: Advice,
): Detail[] {
  const path = place(issue.path)
  const [key, index, ...deeper] = issue.path
  const isOfItem = typeof index === 'number' && deeper.length === 0
  const advice =
    issue.path.length === 1 || isOfItem ? advise(String(key), isOfItem ? index : undefined) : undefined
  const hinted = advice === undefined ? {} : { hint: advice }
  switch (issue.code) {
    case 'unrecognized_keys': {
      const known = keysAt(shape, issue.path)
      return issue.keys
        .slice(0, most)
        .map((key) =>
          unknownKey(
            key,
            known,
            place([...issue.path, key]),
            issue.path.length === 0 ? advise(key) : undefined,
            issue.input,
          ),
        )
    }
    case 'invalid_type': {
      const expected = KINDS[issue.expected] ?? issue.expected
      if (issue.input === undefined) {
        const keys = keysAt(shape, issue.path).join(', ')
        const message =
          issue.path.length > 0 || keys === ''
            ? `${name(issue)} is required.`
            : `A body is required. Send a JSON object with some of: ${keys}.`
        return [{ path, code: 'required', message, expected, ...hinted }]
      }
      return [
        {
          path,
          code: 'type',
          message: `${name(issue)} must be ${article(expected)}.`,
          expected,
          received: kindOf(issue.input),
          ...hinted,
        },
      ]
    }
    case 'invalid_value':
      return [notAllowed(issue, path)]
    case 'too_big':
    case 'too_small':
      return [outOfBounds(issue, path)]
    case 'invalid_key': {
      // The name of a member has the fault: too long, or with other characters.
      const [fault] = issue.issues
      const ofName = fault && { ...fault, path: issue.path, input: issue.path.at(-1) }
      return toDetails(
        shape,
        (ofName ?? { ...issue, code: 'custom' }) as z.core.$ZodIssue,
        place,
        most,
        advise,
      )
    }
    case 'invalid_union': {
      const meant = meantForm(issue.errors)
      if (meant)
        return meant
          .map((each) => ({ ...each, path: [...issue.path, ...each.path] }) as z.core.$ZodIssue)
          .flatMap((each) => toDetails(shape, each, place, most, advise))
          .slice(0, most)
      return [
        {
          path,
          code: 'type',
          message:
            issue.message === 'Invalid input'
              ? `${name(issue)} must ${saidForms(issue.errors)}.`
              : ownMessage(issue),
          received: kindOf(issue.input),
          ...hinted,
        },
      ]
    }
    default:
      return [
        {
          path,
          code: codeOf(issue),
          message: issue.message === 'Invalid input' ? `${name(issue)} is not valid.` : ownMessage(issue),
          ...hinted,
        },
      ]
  }
}

/** The message of a check of our own. In one that starts with "It", the name of the field takes that place. */
const ownMessage = (issue: z.core.$ZodIssue): string =>
  issue.message.replace(/^It (?=must |can )/, () => `${name(issue)} `)

/** The code of an issue. A check of our own names its code in `params`. */
function codeOf(issue: z.core.$ZodIssue): string {
  const own = 'params' in issue ? issue.params?.['code'] : undefined
  return typeof own === 'string' ? own : issue.code
}

type OutOfBounds = z.core.$ZodIssueTooBig | z.core.$ZodIssueTooSmall

/** Converts a bounds issue. A bound with a message of its own keeps it. */
function outOfBounds(issue: OutOfBounds, path: string): Detail {
  const { code, origin, input } = issue
  const bound = Number(code === 'too_big' ? issue.maximum : issue.minimum)
  const what = COUNTED[origin]
  const many = what === undefined ? '' : ` ${what}${bound === 1 ? '' : 's'}`
  const side = code === 'too_big' ? 'at most' : 'at least'
  const said = `${name(issue)} must ${what === undefined ? 'be' : 'have'} ${side} ${bound}${many}.`
  return {
    path,
    code,
    message: /^Too (big|small)/.test(issue.message) ? said : ownMessage(issue),
    expected: bound,
    ...(typeof input === 'number' && { received: input }),
  }
}

function unknownKey(
  key: string,
  allowed: readonly string[],
  path: string,
  advice?: string,
  input?: unknown,
): Detail {
  const shown = key.slice(0, 64)
  const unknown = `Unknown ${path.startsWith('query/') ? 'parameter' : 'field'} "${shown}".`
  const found = OF_PAIR.test(key) ? filterOfPair(input, allowed) : undefined
  const led = found ?? advice
  if (led !== undefined) {
    const message = `${unknown} ${found === undefined ? 'Use the form in hint.' : findsByPair()}`
    return { path, code: 'unknown_key', message, allowed, hint: led }
  }
  const hint =
    meantField(key, allowed) ?? allowed.find((name) => isShortFor(key, name)) ?? resembling(key, allowed)
  return {
    path,
    code: 'unknown_key',
    message: hint ? `${unknown} Did you mean "${hint}"?` : unknown,
    allowed,
    ...(hint && { hint }),
  }
}

function notAllowed(issue: z.core.$ZodIssueInvalidValue, path: string): Detail {
  const allowed = issue.values.map((value) => (typeof value === 'bigint' ? String(value) : value))
  const { input } = issue
  const texts = allowed.filter((value) => typeof value === 'string')
  const [item, ...others] = Array.isArray(input) ? input : [input]
  const hint = typeof item === 'string' && others.length === 0 ? meantValue(item, texts) : undefined
  const missing = input === undefined
  return {
    path,
    code: missing ? 'required' : 'enum',
    message: `${name(issue)} ${missing ? 'is required:' : 'must be'} ${allowed.length > 1 ? 'one of ' : ''}${allowed.map((value) => JSON.stringify(value)).join(', ')}.`,
    allowed,
    ...(typeof input === 'string' && { received: input.slice(0, 64) }),
    ...(hint && { hint }),
  }
}

/** The known keys of the object at the path. Unwraps optional, nullable and similar wrappers. */
function keysAt(shape: z.ZodType, path: readonly PropertyKey[]): string[] {
  let at: unknown = shape
  for (const segment of path) {
    const { def } = bare(at)
    at = def.shape ? def.shape[String(segment)] : (def.element ?? def.valueType)
  }
  const { def } = bare(at)
  return Object.keys(def.shape ?? {})
}

type Def = {
  innerType?: unknown
  in?: unknown
  shape?: Record<string, unknown>
  element?: unknown
  valueType?: unknown
  options?: unknown[]
}

function bare(shape: unknown): { def: Def } {
  let at = shape as { def: Def } | undefined
  for (let inner = at?.def; inner?.innerType || inner?.in || inner?.options; inner = at?.def)
    at = (inner.innerType ?? inner.in ?? formWithKeys(inner.options)) as { def: Def }
  return at ?? { def: {} }
}

const formWithKeys = (forms: readonly unknown[] = []) =>
  forms.findLast((form) => bare(form).def.shape) ?? forms.at(-1)

const name = (issue: { path: readonly PropertyKey[] }) => {
  const [list, last] = [issue.path.at(-2), issue.path.at(-1)]
  if (typeof last === 'string') return `"${last.slice(0, 64)}"`
  if (typeof last !== 'number') return 'The value'
  return typeof list === 'string' ? `Item ${last} of "${list.slice(0, 64)}"` : `Item ${last}`
}
/** The unit of a size limit, by type. For numbers the limit is on the value. */
const COUNTED: Readonly<Record<string, string>> = { string: 'character', array: 'item' }
/** Maps zod type names to JSON type names. */
const KINDS: Readonly<Record<string, string>> = { record: 'object', int: 'integer' }
const article = (kind: string) => (/^[aeio]/.test(kind) ? `an ${kind}` : `a ${kind}`)
const kindOf = (value: unknown) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)
