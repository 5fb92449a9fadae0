import type { ToolDraft } from './codec.ts'
import type { Json } from './input.ts'

/** Writes a flat native definition: updates the imported one, or creates one. */
export function rewrite(draft: ToolDraft, schemaKey: string): Json {
  const tool: Json = { ...draft.native?.definition, name: draft.alias }
  if (draft.description !== null) tool['description'] = draft.description
  // An explicit null is equivalent to an absent key; a description removed from the type is removed here.
  else if (typeof tool['description'] === 'string') delete tool['description']
  if (draft.schema !== undefined) tool[schemaKey] = draft.schema
  return tool
}
