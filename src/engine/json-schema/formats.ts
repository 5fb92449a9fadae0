import { domainToASCII } from 'node:url'
import type { Format } from 'ajv'
import { type FormatName, fullFormats } from 'ajv-formats/dist/formats.js'
import { spend } from './budget.ts'

type StringTest = (text: string) => boolean

// The one quadratic pattern of the collection; no address bar takes longer ones either.
const LONGEST_URL = 4096

function standard(name: FormatName): StringTest {
  const format: Format = fullFormats[name]
  const test = typeof format === 'object' && 'validate' in format ? format.validate : format
  if (test instanceof RegExp) return (text) => test.test(text)
  if (typeof test === 'function') return test as StringTest
  return () => true
}

/** ASCII spelling of what may be written in any script. */
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

const NUMBERS = ['int32', 'int64', 'float', 'double'] as const

/** Every format a schema may name, as Ajv takes them. Strings count against the budget. */
export const FORMATS: Record<string, Format> = {}
for (const name of Object.keys(fullFormats) as FormatName[]) {
  const test = standard(name)
  FORMATS[name] = (text: string) => {
    spend(text.length)
    return test(text)
  }
}
Object.assign(FORMATS, EXTRA)
for (const name of NUMBERS) FORMATS[name] = fullFormats[name]

/** The formats that are asserted; any other name is refused. */
export const KNOWN_FORMATS: readonly string[] = Object.keys(FORMATS).sort()

export function isKnownFormat(name: string): boolean {
  return Object.hasOwn(FORMATS, name)
}
