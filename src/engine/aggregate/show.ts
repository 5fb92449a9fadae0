import { survivesDouble } from '../../json/decimal.ts'
import { written } from '../records/record.ts'

/** How a value of the database is shown as JSON; null stays null. */
export type Show = (value: unknown) => unknown

export const asItIs: Show = (value) => value

export const asTime: Show = (value) => (value === null ? null : written(value as Date | string))

/** A number, or the string of its digits where a double would be another number. */
export const asNumber: Show = (value) => {
  if (value === null) return null
  const digits = String(value)
  if (survivesDouble(digits)) return Number(digits)
  return digits.includes('.') ? digits.replace(/\.?0+$/, '') : digits
}

/** A mean is seldom a short decimal: the nearest double. */
export const asMean: Show = (value) => (value === null ? null : Number(value))
