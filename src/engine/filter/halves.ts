/** Does the value hold half of a surrogate pair? No stored value does, so none equals it. */
export function holdsHalf(value: unknown): boolean {
  if (typeof value === 'string') return !value.isWellFormed()
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some(holdsHalf)
}

const HALF = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/

/** The least whole string above one with half a pair in it: no stored string lies between them. */
export function wholeAbove(text: string): string {
  const at = text.search(HALF)
  return at < 0 ? text : `${text.slice(0, at)}\ue000`
}
