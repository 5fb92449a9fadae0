/** Parser of PostgreSQL array text: `{a,"b\"c",NULL,{…}}`. */
import { BACKSLASH, QUOTE } from '../../../foundation/ascii.ts'
import { nextTurn, turnIsOver } from '../../../foundation/event-loop-turns.ts'
import { LIMITS } from '../../../foundation/limits.ts'

type Read = (text: string) => unknown

/** Parses an array and reads each item with `read`. */
export function readArray(text: string, read: Read): unknown[] {
  const walk = new Walk(text, read)
  while (walk.step()) {}
  return walk.items
}

/** The asynchronous variant for large text, which yields to the event loop. */
export async function readArrayInTurns(text: string, read: Read): Promise<unknown[]> {
  const walk = new Walk(text, read)
  for (let i = 1; walk.step(); i++) if (i % LIMITS.sqlArraySteps === 0 && turnIsOver()) await nextTurn()
  return walk.items
}

class Walk {
  readonly items: unknown[] = []
  readonly #text: string
  readonly #read: Read
  readonly #open: unknown[][] = []
  #list = this.items
  #at: number

  /** An array with non-default lower bounds has a bounds prefix. */
  constructor(text: string, read: Read) {
    this.#text = text
    this.#read = read
    this.#at = text.indexOf('{') + 1
  }

  /** Parses one item or bracket. False at the end. */
  step(): boolean {
    const char = this.#text[this.#at]
    if (char === undefined) return false
    if (char === ',') this.#at++
    else if (char === '{') this.#enter()
    else if (char === '}') this.#leave()
    else this.#list.push(char === '"' ? this.#read(this.#quoted()) : this.#bare())
    return true
  }
  #enter(): void {
    const list: unknown[] = []
    this.#list.push(list)
    this.#open.push(this.#list)
    this.#list = list
    this.#at++
  }
  #leave(): void {
    this.#list = this.#open.pop() ?? this.items
    this.#at++
  }
  #bare(): unknown {
    const start = this.#at
    while (this.#at < this.#text.length && !ENDS.has(this.#text.charCodeAt(this.#at))) this.#at++
    const bare = this.#text.slice(start, this.#at)
    return bare === 'NULL' ? null : this.#read(bare)
  }
  #quoted(): string {
    const start = this.#at + 1
    let isEscaped = false
    let at = start
    for (; at < this.#text.length && this.#text.charCodeAt(at) !== QUOTE; at++) {
      if (this.#text.charCodeAt(at) !== BACKSLASH) continue
      isEscaped = true
      at++
    }
    this.#at = at + 1
    const quoted = this.#text.slice(start, at)
    return isEscaped ? quoted.replace(/\\(.)/gs, '$1') : quoted
  }
}

/** A comma or a closing brace. */
const ENDS = new Set([44, 125])
