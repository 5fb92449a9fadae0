import SchemaBuilder from '@pothos/core'
import type { Context } from './context.ts'

/** The shared Pothos schema builder. Each noun adds its types and fields. Fields are non-null by default. */
export const builder = new SchemaBuilder<{
  Context: Context
  DefaultFieldNullability: false
  Scalars: {
    JSON: { Input: unknown; Output: unknown }
    DateTime: { Input: string; Output: string }
  }
}>({ defaultFieldNullability: false })

builder.queryType()
builder.mutationType()
builder.subscriptionType()
