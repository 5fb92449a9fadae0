export { Allowance, type CompiledSchema, compileSchema } from './compile.ts'
export { fieldExists, formatAt } from './fields.ts'
export { isKnownFormat, KNOWN_FORMATS } from './formats.ts'
export { canRunPattern } from './pattern.ts'
