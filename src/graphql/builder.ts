import SchemaBuilder from '@pothos/core'
import type { Context } from './context.ts'

/** The one builder; each noun adds its types and fields to it. Nothing is nullable unless it says so. */
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
