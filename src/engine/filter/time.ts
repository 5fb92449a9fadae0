const TIME =
  /^(\d{4})-(\d\d)-(\d\d)([Tt ]([01]\d|2[0-3]):[0-5]\d(:([0-5]\d|60)(\.\d{1,9})?)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)?)?$/

/** Whether the text is a date or a date-time that `plinth.instant` parses. */
export function isTime(text: string): boolean {
  const [, year, month, day] = TIME.exec(text) ?? []
  if (year === undefined || year === '0000') return false
  const date = new Date(0)
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day)
}
