import type { ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { cost } from './cost.ts'
import { FORMATS } from './formats.ts'
import type { Pattern } from './pattern.ts'
import type { Clean } from './reader.ts'
import { REPLACED } from './replaced.ts'

export type Mode = {
  /** Whether to go on after the first fault. */
  allErrors: boolean
  /** Whether the schema needs to know which members other keywords have looked at. */
  unevaluated: boolean
}

/** Compiles a clean schema. Each gets a validator of its own, so schemas share nothing but the vocabulary. */
export function buildValidator(schema: Clean, patterns: Map<string, Pattern>, mode: Mode): ValidateFunction {
  const regExp = (pattern: string) => patterns.get(pattern) as Pattern
  regExp.code = 'linearRegExp'
  const ajv = new Ajv2020({
    allErrors: mode.allErrors,
    // Each error then holds the schema and the value it is about; `explain.ts` reads them.
    verbose: true,
    messages: false,
    strict: false,
    meta: false,
    validateSchema: false,
    addUsedSchema: false,
    logger: false,
    // A property is what the object itself holds: `constructor` is not there unless someone wrote it.
    ownProperties: true,
    // One function for each place in `$defs`, however often it is referred to.
    inlineRefs: false,
    loopRequired: 20,
    formats: FORMATS,
    code: { regExp, optimize: false },
  })
  // Else alternatives are all tried although the first one matches.
  ajv.opts.unevaluated = mode.unevaluated
  ajv.opts.dynamicRef = false
  for (const [keyword, definition] of Object.entries(REPLACED)) {
    ajv.removeKeyword(keyword).addKeyword({ keyword, ...definition })
  }
  ajv.addKeyword(cost)
  return ajv.compile(schema)
}
