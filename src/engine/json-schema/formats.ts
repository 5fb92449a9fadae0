import { domainToASCII } from 'node:url'
import { type FormatName, fullFormats } from 'ajv-formats/dist/formats.js'
import { spend } from './evaluation-cost.ts'

type StringTest = (text: string) => boolean

// Limits the one pattern of ajv-formats with quadratic time; browsers do not accept longer URLs either.
const LONGEST_URL = 4096

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
    if (text.length > LONGEST_URL) return false
    spend((text.length * text.length) / 8)
    return standard('url')(text)
  },
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
for (const [name, test] of Object.entries(EXTRA)) FORMATS[name] = ofText(test)
for (const [name, test] of Object.entries(NUMBERS))
  FORMATS[name] = { type: 'number', test: (value) => test(Number(value)) }

/** Names of supported formats; any other name is rejected. */
export const KNOWN_FORMATS: readonly string[] = Object.keys(FORMATS).sort()

export function isKnownFormat(name: string): boolean {
  return Object.hasOwn(FORMATS, name)
}
