import { nextTurn, turnIsOver } from '../foundation/turns.ts'
import { JsonRows } from './rows.ts'

/** How deep a value is cut: answer, field of a query, page, row, and what that has. */
const CUT_LEVELS = 6

/**
 * `JSON.stringify` in turns of the event loop. What lies below the levels is written at once.
 * @returns undefined when the text has more than `most` characters; it is not written to its end then
 */
export async function jsonInTurns(
  value: unknown,
  most: number = Number.POSITIVE_INFINITY,
): Promise<string | undefined> {
  const parts: string[] = []
  let left = most
  const add = (text: string) => {
    left -= text.length
    parts.push(text)
  }
  const write = async (part: unknown, levels: number): Promise<void> => {
    if (turnIsOver()) await nextTurn()
    if (part instanceof JsonRows) return add(`[${part.texts.join(',')}]`)
    if (levels === 0 || !isPlain(part)) return add(JSON.stringify(part) ?? 'null')
    const isArray = Array.isArray(part)
    let before = isArray ? '[' : '{'
    for (const [key, member] of isArray ? part.entries() : Object.entries(part)) {
      if (!isArray && (member === undefined || typeof member === 'function')) continue
      if (left < 0) return
      const name = isArray ? before : `${before}${JSON.stringify(key)}:`
      before = ','
      if (!isPlain(member) && !(member instanceof JsonRows)) add(name + (JSON.stringify(member) ?? 'null'))
      else {
        add(name)
        await write(member, levels - 1)
      }
    }
    add(before === ',' ? (isArray ? ']' : '}') : isArray ? '[]' : '{}')
  }
  await write(value, CUT_LEVELS)
  return left < 0 ? undefined : parts.join('')
}

/** A list or an object that says nothing of its own of how it is written. */
const isPlain = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !('toJSON' in value)
