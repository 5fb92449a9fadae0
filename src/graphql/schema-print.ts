import { lexicographicSortSchema, printSchema } from 'graphql'
import { schema } from './schema.ts'

/** Prints the internal schema in SDL, sorted. */
export const printedSchema = (): string => `${printSchema(lexicographicSortSchema(schema))}\n`
