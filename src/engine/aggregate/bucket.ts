import type { Parameters } from '../filter/parameters.ts'
import type { Interval } from './query.ts'

/** The start of the interval that the instant lies in, by the clocks of the zone. Weeks start on Monday. */
export function bucket(interval: Interval, instant: string, zone: string, parameters: Parameters): string {
  const at = `${parameters.add(zone)}::text`
  // Within an hour the clocks show the instant's own offset, and in UTC there is no other.
  if (interval === 'hour' || interval === 'minute' || zone === 'UTC')
    return `date_trunc('${interval}', ${instant}, ${at})`
  // A clock may show midnight twice, or never. The moment before it is shown as of old, and the day starts right after.
  const before = `date_trunc('${interval}', ${instant} AT TIME ZONE ${at}) - interval '1 microsecond'`
  return `((${before}) AT TIME ZONE ${at} + interval '1 microsecond')`
}
