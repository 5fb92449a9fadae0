import { type CompiledSchema, compileSchema } from '../../schema/json-schema/compile.ts'

/** Compiled once for a check of many links. */
const compiled = new WeakMap<object, CompiledSchema>()

/** Compiles the schema of the data of relationships. */
export function linkSchemaOf(type: { readonly dataSchema: unknown }): CompiledSchema {
  const schema = compiled.get(type) ?? compileSchema(type.dataSchema, '/data_schema')
  compiled.set(type, schema)
  return schema
}
