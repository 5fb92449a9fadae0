/** Exact decimal arithmetic on JSON numbers. */

/** `units` × 10^-`scale`. */
export type Decimal = { units: bigint; scale: number }

/** Parses a JSON number, or a string that contains one. */
export function decimal(value: number | string): Decimal {
  const [mantissa = '', exponent = '0'] = String(value).toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const scale = fraction.length - Number(exponent)
  const units = BigInt(whole + fraction)
  return scale < 0 ? { units: units * 10n ** BigInt(-scale), scale: 0 } : { units, scale }
}

export function plus(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale)
  return { units: at(a, scale) + at(b, scale), scale }
}

/** Compares: negative, 0 or positive. */
export const difference = (a: Decimal, b: Decimal) => sign(plus(a, { ...b, units: -b.units }).units)

export const equals = (a: Decimal, b: Decimal) => difference(a, b) === 0

const sign = (units: bigint) => (units > 0n ? 1 : units < 0n ? -1 : 0)

const at = ({ units, scale }: Decimal, wanted: number) => units * 10n ** BigInt(wanted - scale)

const digits = ({ units, scale }: Decimal) => `${units}e-${scale}`

/** A number if a double represents the value exactly, else a string with all digits. */
export function printed(value: Decimal): number | string {
  const double = Number(digits(value))
  if (Number.isFinite(double) && equals(decimal(double), value)) return double
  const text = String(value.units < 0n ? -value.units : value.units).padStart(value.scale + 1, '0')
  const point = text.length - value.scale
  const fraction = text.slice(point).replace(/0+$/, '')
  return `${value.units < 0n ? '-' : ''}${text.slice(0, point)}${fraction && `.${fraction}`}`
}

/** Quotient as a double, correct to about one unit in the last place. */
export function over(value: Decimal, count: number): number {
  const precision = 400
  const units = (value.units * 10n ** BigInt(precision)) / BigInt(count)
  return Number(digits({ units, scale: value.scale + precision }))
}
