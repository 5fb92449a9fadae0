/** Text of agents, made safe to look at: it is data, whatever it says. */

/** A cell shows that many characters, a field of a record that many lines. */
export const CELL_CHARS = 300
/** A difference in a row shows that many. */
export const DIFF_CHARS = 40

/** Control and invisible characters, and those that turn the direction of text. A joiner within an emoji is part of it. */
const UNSEEN = /(?![\n\t\r]|(?<=\p{Extended_Pictographic}\ufe0f?)\u200d)[\p{Cc}\p{Cf}]|[\u2028\u2029]/gu

/** Shows each unseen character as a mark with its number. */
export const visible = (text: string): string =>
  text.replace(UNSEEN, (char) => `⟨${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}⟩`)

/** The beginning of a text, and how many characters are missing. Never cuts a character in two. */
export function cut(text: string, most: number): { text: string; more: number } {
  if (text.length <= most) return { text, more: 0 }
  const end = most - (/[\ud800-\udbff]/.test(text[most - 1] ?? '') ? 1 : 0)
  return { text: text.slice(0, end).trimEnd(), more: text.length - end }
}

/** `customer_name` reads as "customer name", `/data/tags/0` as "tags 0". */
export const fieldName = (path: string): string =>
  visible(
    path
      .replace(/^\/?data[/.]/, '')
      .split(/[/.]/)
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
      .join(' ')
      .replaceAll('_', ' ')
      .trim(),
  )

export const bytes = (count: number): string => {
  if (count < 1024) return `${count} bytes`
  const units = ['kB', 'MB', 'GB', 'TB']
  const power = Math.min(Math.floor(Math.log2(count) / 10), units.length)
  return `${(count / 1024 ** power).toFixed(count < 10 * 1024 ** power ? 1 : 0)} ${units[power - 1]}`
}

export const whole = new Intl.NumberFormat('en')
