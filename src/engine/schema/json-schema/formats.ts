import { domainToASCII } from 'node:url'
import { type FormatName, fullFormats } from 'ajv-formats/dist/formats.js'
import { isValidJWT, regexes } from 'zod/v4/core'
import { LIMITS } from '../../../foundation/limits.ts'
import { spend } from './evaluation-cost.ts'

type StringTest = (text: string) => boolean

function standard(name: FormatName): StringTest {
  const format = fullFormats[name]
  const test = typeof format === 'object' && 'validate' in format ? format.validate : format
  if (test instanceof RegExp) return (text) => test.test(text)
  if (typeof test === 'function') return test as StringTest
  return () => true
}

/** ASCII form of an internationalized text, by percent-encoding. */
const encoded = (text: string) => text.replace(/[^\0-\x7f]/gu, encodeURIComponent)

function isHostname(text: string): boolean {
  return !/[/?#@:\s]/.test(text) && standard('hostname')(domainToASCII(text.normalize('NFC')))
}

const EXTRA: Record<string, StringTest> = {
  iri: (text) => standard('uri')(encoded(text)),
  'iri-reference': (text) => standard('uri-reference')(encoded(text)),
  'idn-hostname': isHostname,
  'idn-email': (text) => /^[^\s@]+@[^@]+$/.test(text) && isHostname(text.slice(text.indexOf('@') + 1)),
  url: (text) => {
    if (text.length > LIMITS.formatUrlChars) return false
    spend((text.length * text.length) / 8)
    return standard('url')(text)
  },
}

const matching =
  (pattern: RegExp): StringTest =>
  (text) =>
    pattern.test(text)

/** Formats that Zod and Pydantic print, by Zod's patterns. All of them match in linear time. */
const GENERATED: Record<string, StringTest> = {
  ...Object.fromEntries(
    [
      ...(['base64', 'base64url', 'cidrv4', 'cidrv6', 'cuid', 'cuid2', 'e164', 'guid', 'hex'] as const),
      ...(['ksuid', 'lowercase', 'nanoid', 'ulid', 'uppercase', 'xid'] as const),
    ].map((name) => [name, matching(regexes[name])]),
  ),
  ...Object.fromEntries(
    Object.entries(regexes).flatMap(([name, pattern]) =>
      /^(md5|sha\d+)_/.test(name) && pattern instanceof RegExp ? [[name, matching(pattern)]] : [],
    ),
  ),
  ...Object.fromEntries([1, 2, 3, 4, 5, 6, 7, 8].map((n) => [`uuid${n}`, matching(regexes.uuid(n))])),
  mac: matching(regexes.mac()),
  // One class: in alternatives, a character that is in both would double the time.
  emoji: matching(/^[\p{Extended_Pictographic}\p{Emoji_Component}]+$/u),
  jwt: (text) => isValidJWT(text),
  'json-string': isJson,
}

function isJson(text: string): boolean {
  spend(text.length * 2)
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const isInteger = (value: number, bound: number) =>
  Number.isInteger(value) && value >= -bound && value <= bound - 1

const NUMBERS: Record<string, (value: number) => boolean> = {
  int32: (value) => isInteger(value, 2 ** 31),
  int64: Number.isInteger,
  float: () => true,
  double: () => true,
}

/** A format: the value type it applies to, and its test. */
type Format = { readonly type: 'string' | 'number'; test(value: unknown): boolean }

const ofText = (test: StringTest): Format => ({
  type: 'string',
  test: (value) => {
    const text = String(value)
    spend(30 + text.length)
    return test(text)
  },
})

/** Every supported format. String tests charge the budget. */
export const FORMATS: Record<string, Format> = {}
for (const name of Object.keys(fullFormats) as FormatName[]) FORMATS[name] = ofText(standard(name))
for (const [name, test] of Object.entries({ ...GENERATED, ...EXTRA })) FORMATS[name] = ofText(test)
for (const [name, test] of Object.entries(NUMBERS))
  FORMATS[name] = { type: 'number', test: (value) => test(Number(value)) }

/** Names of supported formats; any other name is an annotation. */
export const KNOWN_FORMATS: readonly string[] = Object.keys(FORMATS).sort()

export function isKnownFormat(name: string): boolean {
  return Object.hasOwn(FORMATS, name)
}
