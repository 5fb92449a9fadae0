import type { Detail } from '../../../foundation/errors.ts'
import { isObject } from '../../../foundation/is-object.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import { own } from '../../../foundation/own.ts'
import { pointer } from '../../../json/parse.ts'
import { checkFormat, checkPlain, checkStrings, checkTypes, isName, type Path, wrongType } from './checks.ts'
import { isKnownFormat } from './formats.ts'
import { ASSERTIONS, type Dialect, dialectOf, NOTES, type Shape } from './keywords.ts'
import { compilePattern, type Pattern, PatternError } from './pattern.ts'
import { FORMER_NAMES } from './property-names.ts'
import { noKeyword, notebook, unknownFormat, unusablePattern } from './schema-warnings.ts'

/**
 * A normalized schema: only assertion and applicator keywords, in 2020-12 syntax. Identifiers and unknown
 * keywords are removed, so that no keyword can refer to another schema or to a validator extension.
 */
export type Clean = { [keyword: string]: unknown }
export type Reference = { target: string; path: Path; node: Clean }

/**
 * Normalizes a schema: validates it against its meta-schema and writes a clean copy. References are only
 * collected.
 */
export class Reader {
  readonly faults: Detail[] = []
  readonly patterns = new Map<string, Pattern>()
  readonly references: Reference[] = []
  readonly anchors = new Map<string, { schema: unknown; path: Path }>()
  /** Keyed by original object, so that a reference target is normalized once. */
  readonly schemas = new Map<object, Clean>()
  readonly paths = new Map<Clean, Path>()
  readonly defaults = new Map<Clean, unknown>()
  /** What is kept without being checked. */
  readonly notes = notebook()
  /** The schemas without a pattern that the engine cannot run, and those without one for property names. */
  readonly unchecked = { patterns: new Set<Clean>(), names: new Set<Clean>() }
  private readonly formats = new Map<string, string>()
  private patternSize = 0
  /** Number of enclosing schemas with an `$id`, which would change the base of references. */
  private embedded = 0
  private readonly at: string
  private readonly dialect: Dialect

  constructor(at: string, dialect: Dialect) {
    this.at = at
    this.dialect = dialect
  }

  schema(raw: unknown, path: Path): Clean | boolean {
    if (typeof raw === 'boolean') return raw
    if (!isObject(raw)) {
      wrongType(
        path,
        ['object', 'boolean'],
        raw,
        this.report,
        'A schema must be an object, or true or false.',
      )
      return true
    }
    const known = this.schemas.get(raw)
    if (known) return known
    const clean: Clean = {}
    this.schemas.set(raw, clean)
    this.paths.set(clean, path)
    if (this.schemas.size > LIMITS.subschemas) {
      if (this.schemas.size === LIMITS.subschemas + 1)
        this.report(
          [],
          'too_complex',
          `A schema can have at most ${LIMITS.subschemas} subschemas. Simplify it.`,
        )
      return clean
    }
    const id = raw['$id']
    const isEmbedded = path.length > 0 && typeof id === 'string' && /^[^#]/.test(id)
    if (isEmbedded) this.embedded++
    if (path.length === 0 && this.hasNoKeyword(raw)) this.note(noKeyword, path)
    for (const [keyword, value] of Object.entries(raw))
      this.keyword(clean, keyword, value, [...path, keyword])
    // Google gives each enum this format.
    if (raw['format'] === 'enum' && !('enum' in raw)) this.noteFormat('enum', [...path, 'format'])
    if (isEmbedded) this.embedded--
    for (const name of anchorNames(raw, this.dialect)) this.anchors.set(name, { schema: raw, path })
    if (this.dialect === 'draft-07') modernize(clean, raw)
    return clean
  }

  /** Whether a schema has other names and checks nothing, such as a list of properties without `properties` around it. */
  private hasNoKeyword(raw: object): boolean {
    const [all, notes] = [ASSERTIONS[this.dialect], NOTES[this.dialect]]
    const names = Object.keys(raw).filter((name) => !name.startsWith('x-'))
    const checks = (name: string) => name !== 'type' && shapeOf(all, name) !== undefined
    const isKnown = (name: string) => shapeOf(all, name) ?? shapeOf(notes, name)
    return !names.some(checks) && !names.every(isKnown)
  }

  /** Reports a fault. After enough faults, the rest of the schema is skipped. */
  readonly report = (path: Path, code: string, message: string, extra: Partial<Detail> = {}): void => {
    if (!this.isDone) this.faults.push({ path: this.at + pointer(...path), code, message, ...extra })
  }

  note(message: string, path: Path): void {
    this.notes.note(message, pointer(...path))
  }

  /** Notes an unknown format. Only the first ones have a suggestion, which takes time. */
  private noteFormat(format: string, path: Path): void {
    const message = this.formats.get(format) ?? unknownFormat(format, this.formats.size < LIMITS.errorDetails)
    this.formats.set(format, message)
    this.note(message, path)
  }

  get isDone(): boolean {
    return this.faults.length >= LIMITS.errorDetails
  }

  private keyword(clean: Clean, keyword: string, value: unknown, path: Path): void {
    if (this.isDone) return
    const assertion = shapeOf(ASSERTIONS[this.dialect], keyword)
    const shape = assertion ?? shapeOf(NOTES[this.dialect], keyword)
    // Errors name the new property where the old one is sent.
    if (keyword === FORMER_NAMES) clean[keyword] = value
    if (shape === 'reference') this.reference(clean, value, path)
    else if (shape) {
      const read = this.value(shape, value, path)
      if (keyword === 'default') this.defaults.set(clean, value)
      else if (assertion && read !== UNCHECKED) clean[keyword] = read
      if (keyword === 'pattern' && read === UNCHECKED) this.unchecked.patterns.add(clean)
      if (keyword === 'patternProperties' && isObject(value) && isObject(read)) {
        if (Object.keys(read).length === Object.keys(value).length) return
        this.unchecked.patterns.add(clean)
        this.unchecked.names.add(clean)
      }
    }
  }

  /** Validates a keyword value against its shape and returns it with normalized subschemas. */
  private value(shape: Shape, value: unknown, path: Path): unknown {
    switch (shape) {
      case 'schema':
        return this.schema(value, path)
      case 'schemas':
        return this.list(value, path)
      case 'schema-or-schemas':
        return Array.isArray(value) ? this.list(value, path) : this.schema(value, path)
      case 'schema-map':
        return this.map(value, path, () => 'schema')
      case 'strings-map':
        return this.map(value, path, () => 'strings')
      case 'dependencies':
        return this.map(value, path, (item) => (Array.isArray(item) ? 'strings' : 'schema'))
      case 'strings':
        checkStrings(value, path, this.report)
        return value
      case 'types':
        checkTypes(value, path, this.report)
        return value
      case 'format':
        checkFormat(value, path, this.report)
        if (typeof value !== 'string' || isKnownFormat(value)) return value
        if (value !== 'enum') this.noteFormat(value, path)
        return UNCHECKED
      case 'pattern':
        return this.pattern(value, path) ? value : UNCHECKED
      case 'dialect':
        if (typeof value !== 'string') wrongType(path, ['string'], value, this.report)
        else if (dialectOf(value) !== this.dialect) {
          this.report(path, 'enum', '$schema differs from the one at the root of the schema. Remove it.')
        }
        return value
      case 'any':
      case 'reference':
        return value
      default:
        checkPlain(shape, value, path, this.report)
        return value
    }
  }

  private list(value: unknown, path: Path): unknown {
    if (!Array.isArray(value)) return wrongType(path, ['array'], value, this.report)
    if (value.length === 0) this.report(path, 'min_items', `"${path.at(-1)}" must list at least one schema.`)
    return value.map((item, i) => this.schema(item, [...path, i]))
  }

  private map(value: unknown, path: Path, shape: (item: unknown) => Shape): unknown {
    if (!isObject(value)) return wrongType(path, ['object'], value, this.report)
    const clean: Clean = {}
    for (const [key, item] of Object.entries(value)) {
      if (this.isDone) break
      const isUsable = path.at(-1) !== 'patternProperties' || this.pattern(key, [...path, key])
      const read = this.value(shape(item), item, [...path, key])
      if (isUsable) clean[key] = read
    }
    return clean
  }

  private reference(node: Clean, value: unknown, path: Path): void {
    if (typeof value !== 'string') wrongType(path, ['string'], value, this.report)
    else if (this.embedded === 0) this.references.push({ target: value, path, node })
    else {
      const message = 'The reference is relative to the $id of an enclosing schema. Remove that $id.'
      this.report(path, 'unsupported_ref', message)
    }
  }

  /** Compiles a pattern. False if the engine cannot run it. */
  private pattern(value: unknown, path: Path): boolean {
    if (typeof value !== 'string') {
      wrongType(path, ['string'], value, this.report)
      return true
    }
    if (this.patterns.has(value)) return true
    try {
      const pattern = compilePattern(value, LIMITS.schemaPatternSize - this.patternSize)
      if (!pattern) {
        this.report(
          path,
          'too_complex',
          'The patterns of the schema are too large in total. Use fewer or shorter ones.',
        )
        return true
      }
      this.patterns.set(value, pattern)
      this.patternSize += pattern.size
      return true
    } catch (error) {
      if (!(error instanceof PatternError)) throw error
      if (!isRegularExpression(value)) {
        this.report(
          path,
          'invalid_pattern',
          `The pattern is not a regular expression: ${error.message}. Correct it.`,
        )
        return true
      }
      this.note(unusablePattern(value, error.message), path)
      return false
    }
  }
}

/** Whether the meta-schema accepts the pattern: it is one in ECMAScript, with or without the Unicode flag. */
const isRegularExpression = (pattern: string): boolean =>
  ['u', ''].some((flags) => {
    try {
      new RegExp(pattern, flags)
      return true
    } catch {
      return false
    }
  })

/** Stands for a keyword that is an annotation here. */
const UNCHECKED = Symbol('unchecked')

function shapeOf(keywords: Readonly<Record<string, Shape>>, keyword: string): Shape | undefined {
  return own(keywords, keyword)
}

function anchorNames(raw: Record<string, unknown>, dialect: Dialect): string[] {
  const { $anchor, $dynamicAnchor, $id } = raw
  const names = dialect === '2020-12' ? [$anchor, $dynamicAnchor] : [String($id ?? '').replace(/^#/, '')]
  return names.filter((name) => typeof name === 'string').filter(isName)
}

/** Rewrites draft-07 in 2020-12 syntax: tuples, and references, beside which it ignores all else. */
function modernize(clean: Clean, { $ref }: Record<string, unknown>): void {
  if (typeof $ref === 'string')
    for (const name of Object.keys(clean)) if (name !== FORMER_NAMES) delete clean[name]
  if (Array.isArray(clean['items'])) {
    clean['prefixItems'] = clean['items']
    delete clean['items']
    if ('additionalItems' in clean) clean['items'] = clean['additionalItems']
  }
  delete clean['additionalItems']
}
