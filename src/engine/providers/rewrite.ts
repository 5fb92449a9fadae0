import type { ToolDraft } from './codec.ts'
import type { Json } from './input.ts'

/** A flat native definition: the imported one with what is new in its place, else a fresh one. */
export function rewrite(draft: ToolDraft, schemaKey: string): Json {
  const tool: Json = { ...draft.native?.definition, name: draft.alias }
  if (draft.description !== null) tool['description'] = draft.description
  // An explicit null says what its absence says; a text that is gone from the type must go here too.
  else if (typeof tool['description'] === 'string') delete tool['description']
  if (draft.schema !== undefined) tool[schemaKey] = draft.schema
  return tool
}
