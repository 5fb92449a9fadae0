/** Every bound of the product in one place. What an operator may change is in `config.ts`, with its default here. */
export const LIMITS = {
  bodyBytes: 10 * 1024 * 1024,
  recordBytes: 1024 * 1024,
  schemaBytes: 256 * 1024,
  jsonDepth: 64,
  pageDefault: 50,
  pageMax: 1000,
  /** Declared indexes of a record type. */
  typeIndexes: 16,
  indexFields: 3,
  textIndexFields: 8,
  filterConditions: 100,
  filterDepth: 10,
  /** Values of one `in`, `not_in`, `has_any` or `has_all`. */
  filterValues: 1000,
  patternChars: 1000,
  sortTerms: 8,
  fieldNames: 100,
  expandLevels: 3,
  expandPaths: 10,
  /** A list that takes longer says which index would help. */
  slowListMs: 250,
  requestTimeoutMs: 30_000,
  drainMs: 25_000,
  /** Of which requests in flight may take this much. */
  finishMs: 18_000,
  /** How long a request waits for a free database connection. */
  connectionWaitMs: 8000,
  requestsPerMinute: 1200,
  requestBurst: 200,
  /** Unauthenticated failures one address may cause before it waits. */
  authFailuresPerMinute: 300,
  graphqlDepth: 12,
  graphqlCost: 5000,
  graphqlAliases: 50,
  graphqlTokens: 2000,
  /** SQL: rows, time and bytes of an answer; statements of a process at once, in all and of one token. */
  sqlRows: 1000,
  sqlTimeoutMs: 10_000,
  sqlBytes: 16 * 1024 * 1024,
  sqlStatements: 4,
  sqlStatementsOfToken: 2,
  idempotencyHours: 24,
  idempotencyWaitMs: 10_000,
  tokenCacheMs: 1000,
  externalIdChars: 512,
  nameChars: 256,
  descriptionChars: 10_000,
  toolsPerImport: 200,
  typedToolTokens: 8000,
} as const
