/** The value of a table under a name from outside: only its own, so none of `constructor` or `__proto__`. */
export const own = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined
