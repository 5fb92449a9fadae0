/** A text as PostgreSQL can store it: U+FFFD in place of NUL characters and lone surrogates. */
export const storableText = (text: string): string => text.replaceAll('\0', '\u{fffd}').toWellFormed()
