type Schema = Readonly<Record<string, unknown>>

/** Generates a value for a schema of one type from its simple keywords; undefined without a type. */
export function sampleOf(schema: Schema, type: unknown): unknown {
  if (type === 'string') return textOf(schema)
  if (type === 'integer' || type === 'number') return numberOf(schema)
  return type === 'boolean' ? true : undefined
}

/** Names and addresses reserved for documentation. */
const OF_FORMAT: Readonly<Record<string, string>> = {
  'date-time': '2026-01-31T09:30:00Z',
  date: '2026-01-31',
  time: '09:30:00Z',
  duration: 'P1D',
  email: 'name@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  'uri-reference': '/example',
  uuid: '0197f0c0-0000-7000-8000-000000000000',
}

function textOf({ format, minLength, maxLength }: Schema): string {
  const known = typeof format === 'string' ? OF_FORMAT[format] : undefined
  if (known !== undefined) return known
  const least = typeof minLength === 'number' ? Math.min(minLength, 100) : 0
  return 'text'.padEnd(least, '.').slice(0, typeof maxLength === 'number' ? maxLength : undefined)
}

function numberOf({ minimum, exclusiveMinimum, maximum, multipleOf }: Schema): number {
  const step = typeof multipleOf === 'number' ? multipleOf : 1
  const above = typeof exclusiveMinimum === 'number' ? exclusiveMinimum + step : step
  const least = Math.max(above, typeof minimum === 'number' ? minimum : above)
  const value = Math.ceil(least / step) * step
  return typeof maximum === 'number' ? Math.min(value, maximum) : value
}
