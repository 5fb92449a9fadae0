/** Every bound of the product in one place. What an operator may change is in `config.ts`, with its default here. */
export const LIMITS = {
  bodyBytes: 10 * 1024 * 1024,
  /** Of a request that writes no record: a query, a type, an endpoint. */
  smallBodyBytes: 1024 * 1024,
  recordBytes: 1024 * 1024,
  schemaBytes: 256 * 1024,
  /** Steps of some ten nanoseconds: checking one value against its schema, and all values of a request. */
  checkSteps: 2_000_000,
  requestCheckSteps: 60_000_000,
  /** Checking what exists against a schema that changes. */
  recheckSteps: 1_000_000_000,
  /** What an error lists of its causes, and of what it allows: entries, and characters of them as JSON. */
  errorDetails: 20,
  errorAllowed: 50,
  errorAllowedChars: 2000,
  /** What a conflict lists of what stands in its way. */
  samples: 10,
  /** Bodies from this size on share a room; the most that it holds, and how long one waits for it. */
  largeBodyBytes: 512 * 1024,
  largeBodiesBytes: 128 * 1024 * 1024,
  largeBodyWaitMs: 10_000,
  /** Of a body that is refused while it is sent: what is still read of it, and for how long, so that its client sees the answer. */
  lingerBytes: 32 * 1024 * 1024,
  lingerMs: 5000,
  jsonDepth: 64,
  /** A larger body is parsed in turns; it has at most so many objects and arrays, and each object so many members. */
  jsonAtOnceBytes: 64 * 1024,
  jsonContainers: 1_000_000,
  jsonMembers: 20_000,
  batchOperations: 1000,
  /** Bytes of records that a batch writes or answers; as many as its body may have, where that is more. */
  batchBytes: 16 * 1024 * 1024,
  pageDefault: 50,
  pageMax: 1000,
  /** Bytes of rows at which a page ends. */
  pageBytes: 16 * 1024 * 1024,
  /** The same of a GraphQL request, all its pages together: an answer is made in one piece. */
  graphqlPageBytes: 4 * 1024 * 1024,
  /** Characters of all that a GraphQL request answers: each page has one row at least, however large. */
  graphqlAnswerBytes: 16 * 1024 * 1024,
  /** The same of one page that an MCP tool reads, to be cut to its tokens, and of all that one POST asks. */
  mcpPageBytes: 2 * 1024 * 1024,
  mcpAnswerBytes: 16 * 1024 * 1024,
  /** Bytes that wait to be sent, or are read for an answer: of one token, and of a process. */
  unsentOfToken: 64 * 1024 * 1024,
  unsentBytes: 256 * 1024 * 1024,
  /** A client that takes nothing of its answer for so long is disconnected. */
  stalledReaderMs: 30_000,
  /** Declared indexes of a record type. */
  typeIndexes: 16,
  indexFields: 3,
  textIndexFields: 8,
  /** Record types that one end of a relationship type names. */
  relationshipEnds: 100,
  filterConditions: 100,
  filterDepth: 10,
  /** Values of one `in`, `not_in`, `has_any` or `has_all`. */
  filterValues: 1000,
  patternChars: 1000,
  /** Of all patterns of a filter: one long text held against a pattern heeds no deadline before it is through. */
  filterPatternChars: 2000,
  sortTerms: 8,
  fieldNames: 100,
  fieldChars: 1024,
  fieldSegments: 32,
  aggregations: 16,
  groupKeys: 8,
  /** Bases that one query asks. */
  queriedBases: 1000,
  searchWords: 16,
  searchWordChars: 64,
  sqlTextBytes: 10 * 1024,
  sqlDepth: 200,
  sqlRelations: 50,
  /** Columns that all relations of a statement yield together; each is an expression of its own. */
  sqlColumns: 5000,
  sqlParameters: 500,
  /** Characters of all parameters together, as JSON. */
  sqlParameterChars: 2 * 1024 * 1024,
  expandLevels: 3,
  expandPaths: 10,
  /** Relationships that a record is written with. */
  recordLinks: 1000,
  /** Records that one deletion takes along by the rules of their links. */
  cascadeRecords: 10_000,
  /** Links of all these, which go with them: some seconds' work, in one transaction. */
  deletedLinks: 50_000,
  /** How long a plan of a deletion can be approved, and the types that it lists of each kind. */
  planMinutes: 10,
  planNames: 20,
  /** Records that one list of an expansion shows, and all lists of an answer together. */
  expandedOfOne: 100,
  expandedInAll: 10_000,
  relatedDepth: 5,
  /** Records and links that a walk from one record may meet. */
  walkedRecords: 20_000,
  walkedLinks: 200_000,
  /** A list that takes longer says which index would help. */
  slowListMs: 250,
  /** Records one claim hands out. */
  claimRecords: 100,
  leaseSeconds: 600,
  leaseSecondsMax: 86_400,
  claimAttemptsMax: 1000,
  /** How long a claim that is over is remembered, for its holder to be told so. */
  claimDays: 7,
  waitSeconds: 30,
  waitSecondsMax: 60,
  requestTimeoutMs: 30_000,
  /** A pass of the event loop that takes longer is logged: it holds up every other request. */
  turnMs: 100,
  /** A read that lasts longer ends when its caller goes. */
  watchAfterMs: 100,
  drainMs: 25_000,
  /** Of which requests in flight may take this much. */
  finishMs: 18_000,
  /** Connections of a process: enough to keep two cores of PostgreSQL busy, few enough to share. */
  databaseConnections: 12,
  /** How long a request waits for a free one, and how many statements of a token wait at a time. */
  connectionWaitMs: 8000,
  queuedOfToken: 250,
  /** Questions of those who wait for records, and of those who follow lists, that are asked at once. */
  looksOfToken: 1,
  looksInAll: 3,
  /** How long such a question may take past the end of a wait, before the answer is what was found last. */
  lookGraceMs: 2000,
  /** After a statement's own deadline, the database has this long to say that it stopped it. */
  silenceMs: 1000,
  /** How often a connection that only listens is asked for a sign of life, and how long that may take. */
  heartbeatMs: 3000,
  /** How often `/readyz` writes, to see whether the database can. */
  writeProbeMs: 3000,
  requestsPerMinute: 1200,
  requestBurst: 200,
  /** Unauthenticated failures one address may cause before it waits. */
  authFailuresPerMinute: 300,
  /** Requests of one address that need no token: pages, their scripts, descriptions. A proxy is one address. */
  visitsPerMinute: 600,
  visitBurst: 200,
  /** Open connections of all clients; how long a request's headers may take, and how often that is checked. */
  connections: 1024,
  headersTimeoutMs: 10_000,
  connectionCheckMs: 2000,
  graphqlDepth: 12,
  graphqlCost: 5000,
  graphqlAliases: 50,
  graphqlTokens: 2000,
  /** Of a GraphQL text: its bytes, and how deep its brackets nest, looked at before it is parsed. */
  graphqlTextBytes: 100 * 1024,
  graphqlNesting: 200,
  /** SQL: rows, time and bytes of an answer; statements of a process at once, in all and of one token. */
  sqlRows: 1000,
  sqlTimeoutMs: 10_000,
  sqlBytes: 16 * 1024 * 1024,
  sqlStatements: 4,
  sqlStatementsOfToken: 2,
  /** The change feed: how often it looks for more while somebody listens, and how soon again after a failure. */
  feedTickMs: 50,
  feedRetryMs: 1000,
  /** Entries of a base that streams share, and bytes of them; who is further behind reads the log for itself. */
  feedKept: 1000,
  feedKeptBytes: 4 * 1024 * 1024,
  /** Entries read at once for all streams of a base, and for one that is behind. */
  feedStretch: 100,
  feedCatchUp: 20,
  /** Entries that one page looks through for those that a filter or the grants leave in. */
  feedReach: 20_000,
  /** Open streams of one token, and how often it is looked whether they may go on. */
  streamsOfToken: 100,
  streamCheckMs: 500,
  streamHeartbeatMs: 15_000,
  /** Entries of the log that are held against a filter at once, and the least time between two such looks. */
  matchedEntries: 1000,
  matchPauseMs: 200,
  /** Resources of a base that the sessions of one token follow, and different filters among them. */
  followedOfToken: 5000,
  followedFilters: 100,
  /** How long a read of the log waits for transactions that are still open. */
  feedWaitMs: 1000,
  /** Bytes that wait for a reader of a stream of messages. */
  streamBacklogBytes: 4 * 1024 * 1024,
  /** Messages of one POST of JSON-RPC, and characters of a name that a client gives, in the log. */
  mcpBatch: 100,
  mcpBatchAtOnce: 8,
  loggedNameChars: 128,
  /** Sessions of the MCP eras that have them: of one token, in all of a process, and how long an unused one is kept. */
  mcpSessionsOfToken: 200,
  mcpSessions: 10_000,
  mcpSessionIdleMs: 24 * 3_600_000,
  /** Resources a session follows, what it is asked at once, and how long an answer of the person behind it may take. */
  mcpSubscriptions: 100,
  mcpQuestions: 16,
  mcpAnswerMs: 10 * 60_000,
  idempotencyHours: 24,
  idempotencyWaitMs: 10_000,
  tokenCacheMs: 1000,
  tokenChars: 512,
  /** A token of an issuer; how far its clock and ours may differ. */
  issuedTokenChars: 8192,
  issuedTokenCacheMs: 30_000,
  clockToleranceSeconds: 10,
  /** Asking an issuer for its keys: in all, how often, how large an answer, how long its keys are good. */
  issuerTimeoutMs: 5000,
  issuerLoadsPerMinute: 6,
  issuerLoadBurst: 3,
  issuerAnswerBytes: 256 * 1024,
  issuerKeysMs: 10 * 60_000,
  /** How long known keys serve while the issuer cannot be asked for new ones. */
  issuerKeysStaleMs: 60 * 60_000,
  externalIdChars: 512,
  nameChars: 256,
  descriptionChars: 10_000,
  toolsPerImport: 200,
  typedToolTokens: 8000,
  /** Tokens of a reading tool's answer; fewer than the least would leave no room for what it is called. */
  answerTokens: 4000,
  answerTokensMin: 200,
  answerTokensMax: 100_000,
  /** Paths of what was cut that an answer names. */
  truncatedPaths: 20,
  /** Types or tools that the address of a tool list names. */
  narrowedNames: 100,
  /** MCP resources: characters of a URI, types a page, records of a list and bytes of them. */
  resourceUriChars: 16 * 1024,
  /** What an error repeats of a URI: any of a type or a record is whole. */
  resourceUriShownChars: 300,
  resourcePage: 100,
  resourceRecords: 50,
  resourceListBytes: 256 * 1024,
  /** Bases that one page of resources or prompts looks into. */
  basesWalked: 50,
  /** Search over all types: of the query, types, those at a time, words that need not all be there, and what is found. */
  searchChars: 1000,
  searchedTypes: 20,
  searchedAtOnce: 4,
  searchedWords: 8,
  foundRecords: 20,
  /** Tokens of a document that clients fetch whole, having no argument for less. */
  documentTokens: 25_000,
  completions: 100,
  promptsOfBase: 100,
  promptArguments: 32,
  promptBytes: 256 * 1024,
  /** Selections of tools, or of relationship types, in one endpoint or toolset. */
  endpointTools: 200,
  endpointToolsets: 50,
  toolDescriptionChars: 1000,
  /** With the lines that every endpoint says, no more than clients take. */
  instructionsBytes: 1400,
  /** Earlier names of tools that stay callable, of one endpoint or toolset. */
  formerNames: 100,
} as const
