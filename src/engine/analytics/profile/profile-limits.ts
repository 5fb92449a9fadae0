/** Limits of a data profile. */
export const PROFILE_LIMITS = {
  /** Sample size: records, their total JSON bytes, and the bytes of the largest record. */
  records: 2000,
  bytes: 8 * 1024 * 1024,
  recordBytes: 2 * 1024 * 1024,
  /** Time budgets of counting and reading, and the minimum of records and bytes regardless of time. */
  countedAlways: 100_000,
  readAlways: 2 * 1024 * 1024,
  walkMs: 400,
  readMs: 500,
  /** Fields in the result, and paths tracked while sampling. */
  fields: 100,
  places: 2000,
  /** Longest field name; the same limit as in filters. */
  fieldChars: 1024,
  /** Path segments after `data`. */
  depth: 6,
  /** Links counted per relationship type and direction. */
  countedLinks: 10_000,
  topValues: 5,
  /** Properties of an example, if no more are required. */
  exampleProperties: 12,
  /** Values of an example that are made from the schema. */
  exampleSteps: 4000,
  /** Stored records that an example may be made of, and the longest value that it takes, as JSON. */
  exampleRecords: 10,
  exampleChars: 100,
  /** Longest value in the result, as JSON. */
  valueChars: 64,
  /** Inferred enums: most values, how often each occurs on average, and the fewest occurrences in all. */
  enumValues: 12,
  enumRepeats: 4,
  enumRecords: 10,
  cacheMs: 30_000,
  cached: 200,
} as const
