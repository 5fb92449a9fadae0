import { lexicographicSortSchema, printSchema } from 'graphql'
import { schema } from './schema.ts'

/** The internal schema as text, in one order whatever the order of registration. */
export const printedSchema = (): string => `${printSchema(lexicographicSortSchema(schema))}\n`
