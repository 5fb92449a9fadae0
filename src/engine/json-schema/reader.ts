import type { Detail } from '../../errors.ts'
import { pointer } from '../../json.ts'
import { nearest } from '../../nearest.ts'
import { isKnownFormat, KNOWN_FORMATS } from './formats.ts'
import { ASSERTIONS, type Dialect, NOTES, type Shape, TYPE_SYNONYMS, TYPES } from './keywords.ts'
import { compilePattern, type Pattern, PatternError } from './pattern.ts'

/**
 * A schema as the validator takes it: only keywords that assert, in the 2020-12 spelling, every reference pointing
 * into the root's `$defs`, and what checking it costs. Identifiers are gone, so no schema can reach another.
 */
export type Clean = { [keyword: string]: unknown }

type Path = (string | number)[]
type Reference = { target: string; path: Path; node: Clean; keyword: string }

const MOST_SCHEMAS = 10_000
const MOST_PATTERN_SIZE = 50_000
const MOST_FAULTS = 20

/** Reads one schema: checks it against its meta-schema, and writes the clean copy. */
export class Reader {
  readonly faults: Detail[] = []
  readonly patterns = new Map<string, Pattern>()
  readonly references: Reference[] = []
  readonly anchors = new Map<string, { raw: unknown; path: Path }>()
  /** By the original, so that a place which is read again, through a reference, stays one. */
  private readonly read = new Map<object, Clean>()
  private patternSize = 0
  /** Depth of subschemas with an `$id` of their own, where a reference would mean something else. */
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
      this.fault(path, 'type', 'A schema is an object, or true or false.', {
        expected: ['object', 'boolean'],
        received: typeName(raw),
      })
      return true
    }
    const known = this.read.get(raw)
    if (known) return known
    const clean: Clean = {}
    this.read.set(raw, clean)
    if (this.read.size > MOST_SCHEMAS) {
      if (this.read.size === MOST_SCHEMAS + 1) {
        this.fault(path, 'too_complex', `A schema has at most ${MOST_SCHEMAS} subschemas.`)
      }
      return clean
    }
    const isEmbedded = path.length > 0 && this.identify(raw, path)
    if (isEmbedded) this.embedded++
    const assertions: Readonly<Record<string, Shape>> = ASSERTIONS[this.dialect]
    for (const [keyword, value] of Object.entries(raw)) {
      if (this.faults.length >= MOST_FAULTS) break
      const shape = Object.hasOwn(assertions, keyword) ? assertions[keyword] : undefined
      if (shape) this.assertion(clean, keyword, shape, value, [...path, keyword])
      else if (Object.hasOwn(NOTES[this.dialect], keyword)) {
        this.value(NOTES[this.dialect][keyword] ?? 'any', value, [...path, keyword])
      }
    }
    if (isEmbedded) this.embedded--
    this.anchor(raw, path)
    if (this.dialect === 'draft-07') modernize(clean)
    return clean
  }

  fault(path: Path, code: string, message: string, extra: Partial<Detail> = {}): void {
    if (this.faults.length >= MOST_FAULTS) return
    this.faults.push({ path: this.at + pointer(...path), code, message, ...extra })
  }

  private assertion(clean: Clean, keyword: string, shape: Shape, value: unknown, path: Path): void {
    if (shape === 'reference') {
      if (typeof value !== 'string') return this.mustBe(path, 'a string', value)
      if (this.embedded > 0) {
        const message = 'This reference lies in a subschema with its own $id, which changes what it refers to.'
        return this.fault(path, 'unsupported_ref', `${message} Remove that $id.`)
      }
      this.references.push({ target: value, path, node: clean, keyword })
    } else clean[keyword] = this.value(shape, value, path)
  }

  /** Checks a keyword's value; gives it back with the schemas in it read. */
  private value(shape: Shape, value: unknown, path: Path): unknown {
    switch (shape) {
      case 'schema':
        return this.schema(value, path)
      case 'schemas':
        if (!Array.isArray(value) || value.length === 0) return this.mustBe(path, 'a list of schemas, not empty', value)
        return value.map((item, i) => this.schema(item, [...path, i]))
      case 'schema-or-schemas':
        return this.value(Array.isArray(value) ? 'schemas' : 'schema', value, path)
      case 'schema-map':
        return this.map(value, path, (item, at) => this.schema(item, at))
      case 'dependencies':
        return this.map(value, path, (item, at) => this.value(Array.isArray(item) ? 'strings' : 'schema', item, at))
      case 'strings-map':
        return this.map(value, path, (item, at) => this.value('strings', item, at))
      case 'strings':
        return this.strings(value, path)
      case 'types':
        return this.types(value, path)
      case 'pattern':
        return this.pattern(value, path)
      case 'format':
        return this.format(value, path)
      default:
        if (!SCALARS[shape].test(value)) this.mustBe(path, SCALARS[shape].name, value)
        return value
    }
  }

  private map(value: unknown, path: Path, read: (item: unknown, path: Path) => unknown): Clean {
    const clean: Clean = {}
    if (!isObject(value)) {
      this.mustBe(path, 'an object', value)
      return clean
    }
    const hasPatterns = path.at(-1) === 'patternProperties'
    for (const [key, item] of Object.entries(value)) {
      if (this.faults.length >= MOST_FAULTS) break
      if (hasPatterns) this.pattern(key, [...path, key])
      clean[key] = read(item, [...path, key])
    }
    return clean
  }

  private strings(value: unknown, path: Path): unknown {
    if (!Array.isArray(value)) {
      const isOldRequired = path.at(-1) === 'required' && typeof value === 'boolean'
      const hint = isOldRequired ? 'Name the property in the `required` list of the object it belongs to.' : undefined
      return this.mustBe(path, 'a list of strings', value, hint && { hint })
    }
    const seen = new Set<unknown>()
    value.forEach((item, i) => {
      if (typeof item !== 'string') this.mustBe([...path, i], 'a string', item)
      else if (seen.has(item)) this.fault([...path, i], 'unique_items', 'This name is listed twice. Remove one.')
      seen.add(item)
    })
    return value
  }

  private types(value: unknown, path: Path): unknown {
    const list = Array.isArray(value) ? value : [value]
    if (list.length === 0) this.fault(path, 'type', 'List at least one type.', { allowed: TYPES })
    list.forEach((item, i) => {
      const at = Array.isArray(value) ? [...path, i] : path
      if (TYPES.includes(item)) {
        if (list.indexOf(item) < i) this.fault(at, 'unique_items', 'This type is listed twice. Remove one.')
        return
      }
      const hint = typeof item === 'string' ? guessType(item) : undefined
      const message = hint ? `There is no such type. Did you mean "${hint}"?` : 'There is no such type.'
      this.fault(at, 'enum', message, { allowed: TYPES, ...(hint && { hint }) })
    })
    return value
  }

  private pattern(value: unknown, path: Path): unknown {
    if (typeof value !== 'string') return this.mustBe(path, 'a string', value)
    if (this.patterns.has(value)) return value
    try {
      const pattern = compilePattern(value)
      this.patterns.set(value, pattern)
      this.patternSize += pattern.size
      if (this.patternSize > MOST_PATTERN_SIZE && this.patternSize - pattern.size <= MOST_PATTERN_SIZE) {
        this.fault(path, 'too_complex', 'The patterns of this schema are too many or too large. Use fewer.')
      }
    } catch (error) {
      if (!(error instanceof PatternError)) throw error
      this.fault(path, 'pattern', `Patterns run in linear time, and this one cannot: ${error.message}.`)
    }
    return value
  }

  private format(value: unknown, path: Path): unknown {
    if (typeof value !== 'string') return this.mustBe(path, 'a string', value)
    if (isKnownFormat(value)) return value
    const hint = nearest(value, KNOWN_FORMATS)
    const message = `There is no such format. ${hint ? `Did you mean "${hint}"?` : 'Use a pattern, or leave it out.'}`
    this.fault(path, 'format', message, { allowed: KNOWN_FORMATS, ...(hint && { hint }) })
    return value
  }

  /** Checks the identifier of a subschema; true when it makes the subschema a document of its own. */
  private identify(raw: Clean, path: Path): boolean {
    const { $id: id, $schema: dialect } = raw
    if (dialect !== undefined && dialect !== 'https://json-schema.org/draft/2020-12/schema') {
      if (this.dialect === '2020-12') this.fault([...path, '$schema'], 'enum', 'Name the dialect at the root only.')
    }
    return typeof id === 'string' && !id.startsWith('#') && id !== ''
  }

  private anchor(raw: Clean, path: Path): void {
    const names = [raw['$anchor'], raw['$dynamicAnchor']]
    if (this.dialect === 'draft-07' && typeof raw['$id'] === 'string') names.push(raw['$id'].replace(/^#/, ''))
    for (const name of names) {
      if (typeof name === 'string' && ANCHOR.test(name)) this.anchors.set(name, { raw, path })
    }
  }

  private mustBe(path: Path, expected: string, value: unknown, extra?: Partial<Detail>): void {
    this.fault(path, 'type', `This keyword takes ${expected}.`, { expected, received: typeName(value), ...extra })
  }
}
