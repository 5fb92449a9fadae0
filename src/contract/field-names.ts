/**
 * Converts field names between snake_case (on the wire) and camelCase (GraphQL and engine). Imports nothing.
 */

export type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name

/** Of names that shapes have, which each request asks for again. */
const camel = new Map<string, string>()
const MOST_NAMES = 1000

export function toCamel(name: string): string {
  const known = camel.get(name)
  if (known !== undefined) return known
  const made = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  if (camel.size < MOST_NAMES) camel.set(name, made)
  return made
}

export const toSnake = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** An object with top-level keys in camelCase. Nested values are user data and keep their keys. */
export type CamelFields<T> = { [Name in keyof T as Name extends string ? Camel<Name> : never]: T[Name] }

export const camelFields = <T extends object>(fields: T): CamelFields<T> =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [toCamel(name), value])) as CamelFields<T>

export const snakeFields = (fields: object): object =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [toSnake(name), value]))
