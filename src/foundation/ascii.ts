/** Codes of the characters that parsers look for. */
export const NEWLINE = 10
export const SPACE = 32
export const QUOTE = 34
export const COMMA = 44
export const MINUS = 45
export const POINT = 46
export const ZERO = 48
export const BRACKET = 91
export const BACKSLASH = 92
export const LETTER_E = 101
export const BRACE = 123
