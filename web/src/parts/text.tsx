/** What stands in a line: texts of agents, which are data, whatever they say, and states in a word. */

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

export const whole = new Intl.NumberFormat('en')

type Tag = 'code' | 'dt' | 'h1' | 'h2' | 'h3' | 'p' | 'q' | 'span' | 'strong'
type Props = { children: string; in?: Tag; className?: string }

/** A text of an agent: a text node, isolated from the direction of what is around it. With a class, in an element. */
export function Text({
  children,
  className,
  in: Around = className === undefined ? undefined : 'span',
}: Props) {
  const text = (
    <bdi dir="auto" className="text">
      {visible(children)}
    </bdi>
  )
  return Around ? <Around className={className}>{text}</Around> : text
}

/** What is said below, in small. */
export const Meta = ({ children }: { children: string }) => (
  <Text in="p" className="meta">
    {children}
  </Text>
)

/** The name of a tool. */
export const Tool = ({ name }: { name: string }) => (
  <Text in="code" className="tool">
    {name}
  </Text>
)

export type Tone = 'quiet' | 'added' | 'removed' | 'changed' | 'info'

/** A state in a word. Its tint repeats what the word says. */
export function Chip({ tone = 'quiet', children }: { tone?: Tone; children: string }) {
  return (
    <span className={`chip ${tone}`}>
      <Text>{children}</Text>
    </span>
  )
}

const TINTED: Readonly<Record<Exclude<Tone, 'quiet'>, RegExp>> = {
  removed: /^(urgent|critical|failed|error|rejected|declined|dead|blocked|overdue|lost)$/i,
  changed: /^(open|high|pending|proposed|in[ _-]?progress|review|warning|held)$/i,
  info: /^(new|todo|created|active|running)$/i,
  added: /^(done|won|sent|ok|approved|succeeded|paid|healthy|resolved)$/i,
}

/** The tints of what is done to something. */
export const EDITED = { create: 'added', update: 'changed', delete: 'removed' } as const

/** The tint of a state whose word is common; the others are quiet. */
export const toneOf = (word: string): Tone => {
  const found = Object.entries(TINTED).find(([, pattern]) => pattern.test(word))
  return (found?.[0] as Tone | undefined) ?? 'quiet'
}
