/** A state in a word. Its tint repeats what the word says. */
import { Text } from './plain-text.tsx'

export type Tone = 'quiet' | 'added' | 'removed' | 'changed' | 'info'

export function Chip({ tone = 'quiet', children }: { tone?: Tone; children: string }) {
  return (
    <span className={`chip ${tone}`}>
      <Text>{children}</Text>
    </span>
  )
}

const TONES: Readonly<Record<Exclude<Tone, 'quiet'>, RegExp>> = {
  removed: /^(urgent|critical|failed|error|rejected|declined|dead|blocked|overdue|lost)$/i,
  changed: /^(open|high|pending|proposed|in[ _-]?progress|review|warning|held)$/i,
  info: /^(new|todo|created|active|running)$/i,
  added: /^(done|won|sent|ok|approved|succeeded|paid|healthy|resolved)$/i,
}

/** The tints of what is done to something. */
export const EDITED = { create: 'added', update: 'changed', delete: 'removed' } as const

/** The tint of a state whose word is common; the others are quiet. */
export const toneOf = (word: string): Tone => {
  const found = Object.entries(TONES).find(([, pattern]) => pattern.test(word))
  return (found?.[0] as Tone | undefined) ?? 'quiet'
}
