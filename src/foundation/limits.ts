import { SERVER_LIMITS } from './server-limits.ts'
import { TEXT_LIMITS } from './text-limits.ts'
import { WORK_LIMITS } from './work-limits.ts'

/**
 * All fixed limits of the product. Operators can change some of them (`config/read-config.ts`); the defaults
 * are here.
 */
export const LIMITS = {
  ...SERVER_LIMITS,
  ...TEXT_LIMITS,
  ...WORK_LIMITS,
  bodyBytes: 10 * 1024 * 1024,
  /** Body limit of requests that write no record: a query, a type, an endpoint. */
  smallBodyBytes: 1024 * 1024,
  recordBytes: 1024 * 1024,
  schemaBytes: 256 * 1024,
  /** Schemas that are kept in compiled form, in characters of JSON. In memory they take ten to forty times as much. */
  compiledSchemaChars: 8 * 1024 * 1024,
  /** Schema validation budget, for one value and for all values of a request. One step takes about 10 ns. */
  checkSteps: 2_000_000,
  requestCheckSteps: 60_000_000,
  /** Validation budget for revalidating existing rows against a changed schema. */
  recheckSteps: 1_000_000_000,
  /**
   * Caps on what an error lists: details, allowed values, and the characters of the allowed values as JSON.
   */
  errorDetails: 20,
  /**
   * A fault that more operations of a batch have is listed once. How many operations are explained at all, and how
   * many ranges of operations a fault names.
   */
  shownRepeats: 3,
  explainedFailures: 200,
  shownRanges: 10,
  errorAllowed: 50,
  errorAllowedChars: 2000,
  /** Sample ids that a conflict error lists. */
  samples: 10,
  /**
   * Admission control of large bodies: size from which a body counts, total bytes in flight, maximum wait.
   */
  largeBodyBytes: 64 * 1024,
  largeBodiesBytes: 128 * 1024 * 1024,
  largeBodyWaitMs: 10_000,
  /** Bytes from which a body of many operations is parsed in its turn. */
  bulkTurnBytes: 16 * 1024,
  /**
   * Lingering close: how much of a refused body is still read, and for how long, so that the client receives
   * the response.
   */
  lingerBytes: 32 * 1024 * 1024,
  lingerMs: 5000,
  jsonDepth: 64,
  /**
   * Bodies above this size are parsed incrementally, with caps on objects plus arrays, on members of one object,
   * and on values. More values cost the garbage collector a pause above 100 ms.
   */
  jsonAtOnceBytes: 64 * 1024,
  jsonContainers: 1_000_000,
  jsonValues: 1_000_000,
  jsonMembers: 20_000,
  /** Entries of the log that a page of changes looks through while none matches. */
  changesScanned: 1_000_000,
  /**
   * Changes by request: entries of the first step that looks for requests, and entries that are counted before a
   * page ends.
   */
  groupedFirst: 500,
  groupedEntries: 50_000,
  /** Entries of a page of groups with the properties that they changed, entries of one group that are compared, and properties. */
  groupedFieldEntries: 2000,
  groupFieldEntries: 2000,
  groupFields: 8,
  /** Tokens that a group names as those that proposed it. */
  groupProposers: 8,
  /** Entries of an undo whose diffs are read for its plan. */
  undoneEntriesShown: 20_000,
  /** Changes of one request that rules of a token are held against; more are proposed. */
  automaticWrites: 1000,
  /**
   * A token with a policy of its writes is paused where it makes more changes in an hour than so many, and so many times what it
   * makes in the hours of two weeks in which it writes.
   */
  pauseAbove: 1000,
  unusualWrites: 10,
  /** Entries of the log that are looked through for what it wrote. */
  pausedEntries: 100_000,
  batchOperations: 1000,
  /** Changes that one undo reverts, and the rounds in which it leaves out what is refused. */
  undoneChanges: 10_000,
  undoRounds: 10,
  /** Requests that are looked at for the last one that is not undone. */
  undoneRequests: 200,
  /** Maximum number of operations in one JSON Patch. */
  patchOperations: 1000,
  /** Characters of a JSON Pointer in a JSON Patch. */
  patchPointerChars: 8 * 1024,
  /** Bytes of records that a batch writes or returns. A higher body limit raises it. */
  batchBytes: 16 * 1024 * 1024,
  pageDefault: 50,
  pageMax: 1000,
  /** Records of a list within a record, in GraphQL: lists multiply with each level. */
  relatedDefault: 20,
  /** Bytes of rows after which a page ends. */
  pageBytes: 16 * 1024 * 1024,
  /** Bytes of rows in all pages of one GraphQL request. The response is serialized in one piece. */
  graphqlPageBytes: 4 * 1024 * 1024,
  /** Characters of a whole GraphQL response. Each page has at least one row, however large. */
  graphqlAnswerBytes: 16 * 1024 * 1024,
  /**
   * Bytes of one page that an MCP tool reads before it is cut to its token budget, and of all calls in one
   * POST.
   */
  mcpPageBytes: 2 * 1024 * 1024,
  mcpAnswerBytes: 16 * 1024 * 1024,
  /** Unsent response bytes (being read or waiting for the client): of one token, and of the process. */
  unsentOfToken: 64 * 1024 * 1024,
  unsentBytes: 256 * 1024 * 1024,
  /** A client that reads nothing of its response for this long is disconnected. */
  stalledReaderMs: 30_000,
  /** Maximum number of declared indexes of a record type. */
  typeIndexes: 16,
  indexFields: 3,
  textIndexFields: 8,
  /** Maximum number of record types at one end of a relationship type, and of those that a trigger names. */
  relationshipEnds: 100,
  /** Default and maximum size of a file, and maximum number of content types that a file type names. */
  fileBytes: 5 * 1024 ** 3,
  fileBytesMax: 5 * 1024 ** 4,
  fileContentTypes: 100,
  filePathBytes: 1024,
  fileMetadataBytes: 16 * 1024,
  contentTypeChars: 255,
  /** Maximum size of a content that is part of a GraphQL request or a tool call. */
  inlineContentBytes: 1024 * 1024,
  /** Edits of a text in one request: their number, and characters of a text to find. */
  fileEdits: 100,
  foundTextChars: 10_000,
  /** Lines of a patch, and those times lines of the text: comparisons. */
  patchLines: 10_000,
  patchComparisons: 10_000_000,
  /** Bytes of a text file that a search reads: its first `searchedChars` characters in any alphabet. */
  searchedFileBytes: 4 * 65_536,
  /** Contents of at most this size are rows of the database, larger ones are in the store of contents. It must not shrink. */
  rowContentBytes: 8 * 1024,
  /** Bytes of an upload that are kept in memory until it is written, so that a search need not read them again. */
  keptContentBytes: 65_536,
  /** Words of text indexes of files that a process remembers: of all bases, and of one. */
  knownWords: 200_000,
  knownWordsOfBase: 50_000,
  /** Maximum size of a file that is read as an MCP resource. */
  resourceFileBytes: 4 * 1024 * 1024,
  /** Bytes that are read of a content to find its lines. */
  scannedBytes: 64 * 1024 * 1024,
  /**
   * Diffs of contents: maximum size of each, lines of both from the first to the last change, time, changed lines, and
   * memory of the thread. Shorter ones need no thread.
   */
  diffBytes: 1024 * 1024,
  diffLines: 50_000,
  diffMs: 2000,
  diffEdits: 10_000,
  diffMegabytes: 256,
  diffLinesAtOnce: 300,
  diffCharsAtOnce: 64 * 1024,
  /** Diffs at a time, of the process and of one token, and how long another one waits. */
  diffs: 2,
  diffsOfToken: 1,
  diffWaitMs: 10_000,
  /** How long a content that nothing refers to is kept. */
  unreferencedMs: 24 * 60 * 60_000,
  /** Previews that a base can have. */
  previews: 100,
  /** Change-sets that a base can have open, and those of one token; records and relationships, and bytes of their data, in one of them. */
  changeSets: 1000,
  changeSetsOfToken: 100,
  changeSetReviews: 1000,
  /** Of a change-set, in an answer about it. */
  reviewsShown: 20,
  // As in `plinth_draft.require_room` of the database.
  changeSetRows: 10_000,
  changeSetBytes: 64 * 1024 * 1024,
  /** Maximum number of records of a type, and of bytes of all records, that a preview starts with. */
  previewSample: 100,
  previewSampleBytes: 64 * 1024 * 1024,
  /**
   * Seeds: records, and relationships, that one declares; characters of their data as JSON; rows that one owns
   * in a base.
   */
  seedRows: 1000,
  seedChars: 1024 * 1024,
  seedOwnedRows: 10_000,
  /** Bytes of the configuration of a base as one file, and its resources. */
  configBytes: 64 * 1024 * 1024,
  configResources: 10_000,
  /** Characters of the resources or log entries that one statement writes. */
  statementChars: 4 * 1024 * 1024,
  /** Times that a promotion is compared again because a side changed meanwhile, before it locks them first. */
  promotionTries: 3,
  /** Records that were checked before a lock: how many may need another flag. */
  precheckedFlags: 10_000,
  filterConditions: 100,
  filterDepth: 10,
  /** Steps to linked records. */
  filterLinks: 10,
  /** Maximum number of values in `in`, `not_in`, `has_any` or `has_all`. */
  filterValues: 1000,
  patternChars: 1000,
  /**
   * Characters of all patterns in a filter. PostgreSQL checks for cancellation only between pattern matches.
   */
  filterPatternChars: 2000,
  /** Columns of a CSV for properties that the schema does not name. */
  csvColumns: 1000,
  sortTerms: 8,
  fieldNames: 100,
  fieldChars: 1024,
  fieldSegments: 32,
  aggregations: 16,
  groupKeys: 8,
  /** Moments of an aggregate over time. */
  overMoments: 400,
  /** Maximum number of bases in one cross-base query. */
  queriedBases: 1000,
  searchWords: 16,
  searchWordChars: 64,
  /** Characters of a value that a search reads, as in `plinth.search_text`. */
  searchedChars: 65_536,
  /**
   * Snippets of a search: records of a page that may have them, snippets of a record, characters of one and of
   * its text before the first match, and pairs of a word of the text and a word of the search that the database
   * compares for a page.
   */
  snippetRecords: 100,
  snippetsOfRecord: 3,
  snippetChars: 160,
  snippetLeadChars: 40,
  snippetHits: 500,
  snippetCandidates: 2000,
  sqlTextBytes: 10 * 1024,
  /** Bytes of the statements of a request that writes: longer than a query, for rows of VALUES. */
  sqlWriteTextBytes: 128 * 1024,
  /** Words and signs of these statements; a string is one. The parser takes up to 5 us for each in one piece. */
  sqlWriteWords: 16_000,
  sqlWriteStatements: 20,
  /** Times that a write reads again rows that another writer has changed. */
  sqlLooks: 5,
  /** How long a write waits for its turn, and how many may wait. */
  sqlWaitMs: 10_000,
  sqlWaiters: 100,
  sqlDepth: 200,
  sqlRelations: 50,
  /** Columns of all relations in a SQL statement. Each column is an expression of its own. */
  sqlColumns: 5000,
  sqlParameters: 500,
  /** Characters of all SQL parameters together, as JSON. */
  sqlParameterChars: 2 * 1024 * 1024,
  expandLevels: 3,
  expandPaths: 10,
  /** Relationships in one record write. */
  recordLinks: 1000,
  /** Maximum number of records that one delete cascades to. */
  cascadeRecords: 10_000,
  /** Maximum number of links that one delete removes. This many take a few seconds in one transaction. */
  deletedLinks: 50_000,
  /** Deletion plans: validity of the approval token, and how many types of each kind the plan lists. */
  planMinutes: 10,
  /**
   * Stored plans: how long one is kept, so that an expired one is recognized, and how many plans and bytes of
   * requests a caller has.
   */
  planKeptMinutes: 60,
  plansOfCaller: 100,
  planBytes: 32 * 1024 * 1024,
  planNames: 20,
  /** Expansion: records in one list, and in all lists of a response. */
  expandedOfOne: 100,
  expandedInAll: 10_000,
  relatedDepth: 5,
  /** Graph traversal from one record: maximum number of visited records and links. */
  walkedRecords: 20_000,
  walkedLinks: 200_000,
  /** A list query slower than this reports which index would help. */
  slowListMs: 250,
  /** Metrics of the database are measured at most so often, and the store of contents is listed for them. */
  measureMs: 15_000,
  listContentsMs: 6 * 60 * 60 * 1000,
  /** Slow lists of a process that the diagnostics know. */
  slowListsKept: 100,
  /** Resources that one check of the diagnostics names. */
  diagnosedNames: 5,
  /** Free space of the disk, as a share and in bytes, below which the diagnostics warn and report an error. */
  lowDisk: { warning: { share: 0.1, bytes: 1024 ** 3 }, error: { share: 0.02, bytes: 256 * 1024 ** 2 } },
  /** Difference between the clocks of the server and of its database, in milliseconds. */
  clockSkewMs: { warning: 2000, error: 60_000 },
  /** Share of the connections of PostgreSQL that are in use. */
  busyConnections: 0.9,
  /** A job that is due for longer than this waits for a runner that does not come. */
  lateJobMs: 10 * 60_000,
  /** Maximum number of records in one claim request. */
  claimRecords: 100,
  leaseSeconds: 600,
  leaseSecondsMax: 86_400,
  claimAttemptsMax: 1000,
  /** How long an ended claim is kept, so that its holder gets a specific error. */
  claimDays: 7,
  waitSeconds: 30,
  waitSecondsMax: 60,
  /**
   * JSON-RPC: messages in one POST and how many run concurrently; characters of a client-supplied name in the
   * log.
   */
  mcpBatch: 100,
  mcpBatchAtOnce: 8,
  /** How many different `_meta` of calls are remembered as valid, and how long one may be. */
  mcpEnvelopes: 200,
  mcpEnvelopeChars: 2000,
  loggedNameChars: 128,
  /** MCP sessions of the legacy era: of one token, in total, and idle timeout. */
  mcpSessionsOfToken: 200,
  mcpSessions: 10_000,
  mcpSessionIdleMs: 24 * 3_600_000,
  /** MCP: subscriptions of a session, concurrent elicitations, and how long a user has to answer one. */
  mcpSubscriptions: 100,
  mcpQuestions: 16,
  mcpAnswerMs: 10 * 60_000,
  /**
   * Tasks: after how long a call becomes one, how often its server says that it runs, after how long without that it
   * counts as lost, how long its end is kept, and how many a token has.
   */
  taskAfterMs: 1000,
  taskBeatMs: 1000,
  taskLostMs: 15_000,
  taskKeptMs: 60 * 60_000,
  tasksOfToken: 100,
  /** How long a person has to decide in a view. */
  viewDecisionMs: 60 * 60_000,
  viewChanges: 100,
  viewChangesChars: 256 * 1024,
  viewRequests: 100,
  idempotencyHours: 24,
  idempotencyWaitMs: 10_000,
  tokenCacheMs: 1000,
  tokenChars: 512,
  /** Tokens of one connection whose hashes are kept. */
  tokensOfConnection: 8,
  /** OAuth access tokens: maximum length, how long a validated token is cached, and tolerated clock skew. */
  issuedTokenChars: 8192,
  issuedTokenCacheMs: 30_000,
  clockToleranceSeconds: 10,
  /** Loading the keys of the issuer: timeout, rate limit, response size, cache lifetime. */
  issuerTimeoutMs: 5000,
  issuerLoadsPerMinute: 6,
  issuerLoadBurst: 3,
  issuerAnswerBytes: 256 * 1024,
  subjectChars: 255,
  issuerKeysMs: 10 * 60_000,
  /** How long cached keys stay valid while the issuer is unreachable. */
  issuerKeysStaleMs: 60 * 60_000,
  externalIdChars: 512,
  nameChars: 256,
  descriptionChars: 10_000,
  toolsPerImport: 200,
  /** Tokens of the `create_<type>` tools: above it, none of them is listed. */
  typedToolTokens: 8000,
  /**
   * Tokens of the type tools that an address names. The ones after it are listed without their properties.
   */
  namedToolTokens: 200_000,
  /**
   * Outline of a base: tokens of the instructions with it, types with fields, names of others, what is counted
   * of types and of records, changes that are read to find the types in use, bytes of a schema, ends of a
   * relationship type, and how long counts are cached.
   */
  instructionsTokens: 1150,
  outlineTypes: 12,
  outlineNames: 100,
  outlineCounted: 1000,
  outlineRecords: 1000,
  outlineChanges: 300,
  outlineSchemaBytes: 32 * 1024,
  outlineEnds: 8,
  outlineCacheMs: 60_000,
  /** Definitions of tools that each cache of them keeps, in characters. In memory they take three to thirty times as much. */
  toolCacheChars: 8 * 1024 * 1024,
  /**
   * Response budget of MCP read tools, in tokens. Below the minimum, not even the names of the fields fit.
   */
  answerTokens: 4000,
  /** Tokens of an answer about changes that has to be cut: counts, and the newest rows. */
  digestTokens: 1500,
  answerTokensMin: 200,
  answerTokensMax: 100_000,
  /** Maximum number of truncated paths that a response lists. */
  truncatedPaths: 20,
  /** Maximum number of types or tools in the query of an MCP address. */
  narrowedNames: 100,
  /** MCP resources: characters of a URI, types per page, records per list and their bytes. */
  resourceUriChars: 16 * 1024,
  /** Characters of a URI that an error repeats. The URI of a type or record always fits. */
  resourceUriShownChars: 300,
  resourcePage: 100,
  resourceRecords: 50,
  resourceListBytes: 256 * 1024,
  /** Maximum number of bases that one page of resources or prompts scans. */
  basesWalked: 50,
  /**
   * Search across types: characters of the query, searched types, concurrent searches, optional words, and
   * results.
   */
  searchChars: 1000,
  searchedTypes: 20,
  searchedAtOnce: 4,
  searchedWords: 8,
  foundRecords: 20,
  /** Token limit of a document that clients fetch whole, because they have no argument to ask for less. */
  documentTokens: 25_000,
  completions: 100,
  promptsOfBase: 100,
  promptArguments: 32,
  promptBytes: 256 * 1024,
  /** Maximum number of tool selections, or of relationship types, in one endpoint or toolset. */
  endpointTools: 200,
  endpointToolsets: 50,
  toolDescriptionChars: 1000,
  /** Together with the lines that every endpoint adds, this stays below the limit of MCP clients. */
  instructionsBytes: 1400,
  /** Attachments: bytes of one, how many a record has, and minutes that a signed link is valid. */
  attachmentBytes: 5 * 1024 ** 3,
  attachmentsOfRecord: 1000,
  linkMinutes: 15,
  filenameChars: 255,
  /** Contents in S3: maximum size of one that is sent in one piece, size of the parts of others, and attempts. */
  s3PieceBytes: 16 * 1024 ** 2,
  s3PartBytes: 8 * 1024 ** 2,
  s3Attempts: 3,
  /** Triggers: headers of one, their characters, attempts of a delivery, and how long a former secret is valid. */
  triggerHeaders: 20,
  triggerHeaderChars: 4096,
  deliveryAttempts: 12,
  /** Of a base: each change is matched with all of them, and can be sent to all. */
  triggers: 1000,
  /**
   * Runs of triggers of which each follows from a change of the one before; all those that follow from one run. Runs of
   * all triggers at a time.
   */
  triggerDepth: 5,
  triggerChainRuns: 500,
  triggerRuns: 4,
  deliveryAttemptsMax: 100,
  formerSecretHours: 24,
  /** A trigger whose deliveries have all failed for this long is disabled. */
  failingDays: 5,
  /** How long an ended delivery is kept, and how much of an answer. */
  deliveryDays: 30,
  deliveryAnswerBytes: 4096,
  /**
   * Inbound webhooks: seconds that a delivery may be old, by default and at most, characters of the id of a delivery and
   * of a secret, and failed deliveries of one that are kept.
   */
  deliveryIdChars: 255,
  inboundToleranceSeconds: 300,
  inboundToleranceSecondsMax: 86_400,
  inboundSecretCharsMin: 8,
  inboundSecretChars: 512,
  inboundFailuresKept: 1000,
  /** Relationships that a mapping can name. */
  mappedLinks: 20,
  /** Characters of a template of what is signed, fields of a form, and warnings that a delivery keeps. */
  signedTemplateChars: 256,
  formFields: 1000,
  payloadWarnings: 20,
  /** How long the start of a body is kept of a delivery that succeeded. */
  excerptHours: 24,
  /** Mappings of payloads: fields, values that one translates, characters of all, characters of a JSONPath, and values that all paths visit. */
  mappedFields: 200,
  mappedValues: 1000,
  mappingChars: 64 * 1024,
  jsonPathChars: 1024,
  jsonPathNodes: 1_000_000,
  /**
   * Actions: steps of one, characters of its definition, of its input and of what one step writes or sends, bytes of
   * records that a run reads, and the time of a run.
   */
  actionSteps: 50,
  actionChars: 256 * 1024,
  actionInputChars: 1024 * 1024,
  stepChars: 4 * 1024 * 1024,
  runReadBytes: 4 * 1024 * 1024,
  runMs: 25_000,
  /** Runs that may send requests at the same time, of the process and of one token: each has a connection meanwhile. */
  sendingRuns: 4,
  sendingRunsOfToken: 2,
  sendingRunWaitMs: 10_000,
  /** Characters of an input or output that the log of runs keeps, and how long it keeps a run. */
  runKeptChars: 16 * 1024,
  runDays: 30,
  /**
   * External sources: of one record type, characters of their definition, bytes of an answer and of the data that is
   * sent, how long an answer may take, and how many calls run at a time, of the process and of one token.
   */
  typeSources: 10,
  sourceChars: 64 * 1024,
  sourceAnswerBytes: 4 * 1024 * 1024,
  sourceTimeoutMs: 10_000,
  sourceCalls: 32,
  sourceCallsOfToken: 8,
  sourceWaitMs: 10_000,
  /** Contents: bytes per read of a download, and how long an interrupted upload of another process is left alone. */
  blobChunkBytes: 256 * 1024,
  uploadLeftoverMs: 10 * 60_000,
  /** S3 credentials: seconds that one is valid, and how many valid ones a token has in a base. */
  s3CredentialSeconds: 43_200,
  s3CredentialsOfToken: 1000,
  /** Sign-in codes: seconds that one is valid, and how many a token has. Tabs: hours that one stays signed in, and how many a token has. */
  signInCodeSeconds: 60,
  signInCodesOfToken: 10,
  tabHours: 12,
  tabsOfToken: 20,
  /**
   * Authorization server: seconds that a code and an access token are valid and that a person may read the page, how many
   * clients a token allows, how many register themselves, and what is read of a client's metadata, how often, for how long.
   */
  oauthCodeSeconds: 60,
  oauthAccessSeconds: 3600,
  oauthPageSeconds: 600,
  oauthClientsOfToken: 100,
  oauthClients: 500,
  clientMetadataBytes: 8 * 1024,
  clientMetadataTimeoutMs: 5000,
  clientMetadataMs: 10 * 60_000,
  clientMetadataLoadsPerMinute: 60,
  // Of one address. A proxy is one address.
  clientMetadataLoadsOfAddressPerMinute: 15,
  registrationsOfAddressPerMinute: 3,
  clientsOfAddressBurst: 30,
  redirectUris: 20,
  /**
   * People of an identity provider: seconds that one is signed in without asking it again, and after which it is asked; days
   * after which one who did not come again is forgotten.
   */
  personSeconds: 600,
  personCheckSeconds: 240,
  personDays: 90,
  /**
   * Multipart uploads: parts of one, minimum bytes of a part that is not the last, maximum bytes of a part, how many a
   * base has at the same time, and how long one is kept.
   */
  uploadParts: 10_000,
  uploadPartBytesMin: 5 * 1024 ** 2,
  uploadPartBytes: 5 * 1024 ** 3,
  uploadsOfBase: 1000,
  uploadDays: 7,
  /** S3 gateway: bytes of an XML body, keys of one deletion, characters of a header that a URL sets, and minutes that a request may be old. */
  s3XmlBytes: 2 * 1024 ** 2,
  s3DeletedKeys: 1000,
  s3HeaderChars: 1024,
  s3SkewMinutes: 15,
  /** Trace of a change: steps back and forward, steps that it shows of what followed, and entries read for each cause. */
  traceDepth: 10,
  traceEffects: 200,
  traceScanned: 1000,
  /**
   * Secrets of the vault: bytes of a value, bases that one names, those that a definition refers to, and characters of
   * a text and of a header with their values.
   */
  secretBytes: 64 * 1024,
  secretBases: 1000,
  secretReferences: 50,
  filledChars: 1024 * 1024,
  filledHeaderChars: 16 * 1024,
  /** Rows of one step of a rotation of the master key. */
  rewrappedRows: 200,
  /** Tool name aliases (earlier names that stay callable) of one endpoint or toolset. */
  formerNames: 100,
  /** Paths of a field that was renamed, its present one included. A kept filter reads it under each. */
  formerPaths: 100,
} as const
