import { nearest } from '../../../contract/suggest.ts'
import { type Detail, invalid } from '../../../foundation/errors.ts'
import { own } from '../../../foundation/own.ts'
import { anthropic } from './anthropic.ts'
import type { ProviderCodec } from './codec.ts'
import { google } from './google.ts'
import { mcp } from './mcp.ts'
import { openai } from './openai.ts'

/** Codecs by the provider names accepted in paths. `gemini` is an alias of `google`. */
export const PROVIDERS: Readonly<Record<string, ProviderCodec>> = {
  openai,
  anthropic,
  google,
  gemini: google,
  mcp,
}

/**
 * Looks up a codec.
 * @throws VALIDATION_ERROR for an unknown name
 */
export function provider(name: string): ProviderCodec {
  const allowed = Object.keys(PROVIDERS)
  const found = own(PROVIDERS, name)
  if (found) return found
  const near = nearest(name, allowed)
  const detail: Detail = {
    path: 'path/provider',
    code: 'unknown_provider',
    message: `There is no provider "${name}".${near ? ` Did you mean "${near}"?` : ` There are ${allowed.join(', ')}.`}`,
    received: name,
    allowed,
  }
  throw invalid(near === undefined ? detail : { ...detail, hint: near })
}
