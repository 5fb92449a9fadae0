import { ZERO } from '../foundation/ascii.ts'

/**
 * A non-negative decimal number: `digits` (without leading and trailing zeros) times ten to the `exponent`.
 * Zero is ''.
 */
type Decimal = { digits: string; exponent: number }

/** Parses a JSON number token, or the shortest representation of a double, into its exact decimal value. */
function decimal(token: string): Decimal {
  const mark = token.search(/[eE]/)
  const mantissa = mark < 0 ? token : token.slice(0, mark)
  const point = mantissa.indexOf('.')
  const all = mantissa.replace(/[-.]/g, '')
  // Trim by hand: /0+$/ is quadratic on long runs of zeros, and tokens can be megabytes long.
  let start = 0
  let end = all.length
  while (start < end && all.charCodeAt(start) === ZERO) start++
  while (end > start && all.charCodeAt(end - 1) === ZERO) end--
  if (start === end) return { digits: '', exponent: 0 }
  const fraction = point < 0 ? 0 : mantissa.length - point - 1
  const shift = mark < 0 ? 0 : Number(token.slice(mark + 1))
  return { digits: all.slice(start, end), exponent: shift - fraction + (all.length - end) }
}

/** Whether a number token keeps its exact value in a round trip through a double. */
export function survivesDouble(token: string): boolean {
  const double = Number(token)
  if (!Number.isFinite(double)) return false
  const written = decimal(token)
  const printed = decimal(String(double))
  return written.digits === printed.digits && written.exponent === printed.exponent
}

/**
 * Whether `value` is a multiple of `step` in decimal arithmetic: 19.99 is a multiple of 0.01, but not in
 * binary.
 */
export function isMultipleOf(value: number, step: number): boolean {
  const [a, b] = [decimal(String(value)), decimal(String(step))]
  if (a.digits === '') return true
  const low = Math.min(a.exponent, b.exponent)
  return scaled(a, low) % scaled(b, low) === 0n
}

function scaled({ digits, exponent }: Decimal, low: number): bigint {
  return BigInt(digits) * 10n ** BigInt(exponent - low)
}
