/** Moments as a person at this terminal reads them. */

const two = (value: number): string => String(value).padStart(2, '0')

/** The local time of a moment: with its day if that is not today, and with its year if that is another one. */
export function localTime(iso: string, now = new Date()): string {
  const at = new Date(iso)
  if (Number.isNaN(at.getTime())) return iso
  const time = `${two(at.getHours())}:${two(at.getMinutes())}`
  if (at.toDateString() === now.toDateString()) return `${time}:${two(at.getSeconds())}`
  const day = `${two(at.getMonth() + 1)}-${two(at.getDate())}`
  return at.getFullYear() === now.getFullYear() ? `${day} ${time}` : `${at.getFullYear()}-${day} ${time}`
}
