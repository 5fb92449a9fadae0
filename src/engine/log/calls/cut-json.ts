/** The start of a value as JSON, without the rest, which may be megabytes. */
import { isObject } from '../../../foundation/is-object.ts'
import { REDACTED } from '../../../foundation/redacted.ts'

/** Names of properties whose values are not kept. */
const SECRET =
  /(?:secret|password|passphrase|authorization|cookie|credentials?|token|(?:api|access|private|secret)[-_]?key)$/i
/** Tokens of this server. */
const TOKEN = /plt_[\w-]{20,}/g

/** At least the first `chars` characters of the value as JSON, or all of it. Values under names of secrets are hidden. */
export function firstOf(value: unknown, chars: number): string {
  let text = ''
  const isFull = () => text.length >= chars
  const add = (part: unknown): void => {
    if (isFull()) return
    if (typeof part === 'string') text += JSON.stringify(part.length > chars ? part.slice(0, chars) : part)
    else if (Array.isArray(part)) addAll('[', part, ']', add)
    else if (isObject(part))
      addAll('{', Object.entries(part), '}', ([name, member]) => {
        text += `${JSON.stringify(name.slice(0, chars))}:`
        add(SECRET.test(name) && member !== null ? REDACTED : member)
      })
    else text += JSON.stringify(part) ?? 'null'
  }
  const addAll = <Member>(
    open: string,
    members: readonly Member[],
    end: string,
    one: (member: Member) => void,
  ) => {
    text += open
    for (const [n, member] of members.entries()) {
      if (isFull()) return
      if (n > 0) text += ','
      one(member)
    }
    text += end
  }
  add(value)
  return text.replace(TOKEN, REDACTED)
}

/** A text that PostgreSQL can store, cut to `bytes` of UTF-8. */
export function cutText(text: string, bytes: number): string {
  const plain = text.slice(0, bytes).toWellFormed().replaceAll('\0', '�')
  const whole = Buffer.from(plain)
  return whole.length <= bytes ? plain : whole.subarray(0, bytes).toString().replace(/�$/, '')
}
