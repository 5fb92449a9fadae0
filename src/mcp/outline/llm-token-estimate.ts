/** Words, numbers, other characters, as tokenizers split a text. */
const PIECES = /[A-Z]?[a-z]+|[A-Z]+|\d{1,3}|\n+|[^\sA-Za-z\d]+/g
/** Words without long runs of consonants: a tokenizer knows such words, or the parts of them. */
const PRONOUNCEABLE = /^[^aeiouy]{0,3}(?:[aeiouy]{1,2}[^aeiouy]{0,3})+$/i
const LETTERS = /^[A-Za-z]/

/**
 * An upper estimate of the tokens of a text. Bytes / 4 is too low for lists of names and signs, and the exact
 * number needs a tokenizer of 20 MB.
 */
export function estimateTokens(text: string): number {
  let tokens = 0
  for (const [piece] of text.matchAll(PIECES)) tokens += tokensOf(piece)
  return tokens
}

function tokensOf(piece: string): number {
  if (LETTERS.test(piece)) return Math.ceil(piece.length / (PRONOUNCEABLE.test(piece) ? 7 : 2))
  if (/^\d/.test(piece)) return 1
  return Math.ceil(Buffer.byteLength(piece) / 2)
}
