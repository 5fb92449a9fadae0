/** A step of a diff (RFC 6902). */
export type Step = { op: string; path: string; value?: unknown }

const MOST_CHARS = 200

/** Formats a step: `replace /name "Offer"`. */
export function stepLine({ op, path, value }: Step): string {
  const text = value === undefined ? '' : ` ${JSON.stringify(value)}`
  return `${op} ${path}${text.length > MOST_CHARS ? `${text.slice(0, MOST_CHARS)}…` : text}`
}
