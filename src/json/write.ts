import { nextTurn, turnIsOver } from '../foundation/event-loop-turns.ts'
import { JsonRows } from './rows.ts'

/** Nesting levels that are serialized separately: response, query field, page, row, and its members. */
const CUT_LEVELS = 6

/**
 * `JSON.stringify` that yields to the event loop. Values below `CUT_LEVELS` are serialized in one step.
 * @returns undefined when the text exceeds `most` characters; serialization stops there
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

/** An array or object without a `toJSON` of its own. */
const isPlain = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !('toJSON' in value)
