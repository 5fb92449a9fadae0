/** Work that is done at a time, and for how long something is waited. `limits.ts` includes it. */
export const WORK_LIMITS = {
  // JSON: characters of a slice, values in one turn.
  /** Maximum characters of one slice, and between two checks of the time budget. */
  jsonSliceChars: 64 * 1024,
  jsonValuesAtOnce: 500,
  /** Values with more characters of JSON are printed member by member: 8 KiB take some 15 ms. */
  yamlCharsAtOnce: 8 * 1024,

  // Reading a JSON Schema into a shape: levels, steps, references in a chain.
  /** Maximum length of a chain of references. */
  schemaRefHops: 100,
  /** Work limit of one attempt, in schemas read with references expanded, about 5 µs each. An attempt runs in one event loop pass. */
  shapeSteps: 12_000,
  /** Maximum number of property names taken from a schema that exceeds the work limit. */
  shapeFallbackNames: 1000,
  /** Maximum length of a chain of references. */
  shapeRefHops: 64,
  /** Maximum recursion of a schema into itself before it is described in words. */
  shapeRecursions: 2,
  /** Maximum depth of in-place applicators, each of which uses a stack frame. */
  refDepthInPlace: 300,
  subschemas: 10_000,
  schemaPatternSize: 25_000,
  /** The cost is program size times text length, so both are limited; {1,1000} of one character is about 2,000. */
  patternInstructions: 5000,
  /** Pattern cache: compilation costs far more than a look-up, and a type is recompiled on each change. */
  patternInstructionsKept: 200_000,
  /** Limits the one pattern of ajv-formats with quadratic time; browsers do not accept longer URLs either. */
  formatUrlChars: 4096,
  providerRefHops: 16,
  providerRootHops: 16,
  /** Node limit of inlining: a few nested references can expand into millions. */
  googleSchemaNodes: 5000,
  /** Recursion limit per reference. */
  googleSameRef: 2,

  // SQL of users: what the guard admits, which PostgreSQL would not bound.
  /** Maximum number of grouping sets, each a separate aggregation. */
  sqlGroupingSets: 64,
  /** Maximum number of queries in a WITH clause. */
  sqlWithQueries: 100,
  sqlColumnsAtOnce: 50,
  /** Longest result of a padding function. */
  sqlPaddedChars: 1000,
  /** Maximum length of a regular expression, in characters. */
  sqlPatternChars: 200,
  sqlPatternRepeats: 50,
  /** Maximum length of a jsonpath, in characters. */
  sqlPathChars: 5000,
  /** A parameter can be one megabyte, and a statement may convert it to a number a thousand times. */
  sqlNumberChars: 1000,
  /** Maximum number of rows. */
  sqlSeriesSteps: 10_000,
  sqlSeriesTimeChars: 200,
  sqlArrayDimensions: 6,

  // Running SQL of users: rows of a step, bytes over the limit, connections, and waits.
  /** Steps between two checks of the time slice. */
  sqlArraySteps: 4096,
  /** Characters between two checks of the time slice. */
  sqlTextStretch: 64 * 1024,
  sqlRowsAtOnce: 250,
  sqlChunkSlackBytes: 1024 * 1024,
  sqlWatchMs: 20,
  /** Values of this size or more are read asynchronously. */
  sqlLongTextChars: 64 * 1024,
  sqlCancelMs: 1000,
  /** Time after which an unresponsive backend is abandoned. */
  sqlEndMs: 60_000,
  sqlIdleConnections: 20,
  sqlIdleMs: 60_000,
  /** More than the wait for the lock, and less than a request may take. */
  sqlRoleChangeMs: 20_000,
  /** Connection limit per role, across all processes. */
  sqlRoleConnections: 20,
  sqlCatalogs: 100,

  // The database client: statements of requests that a connection prepares until it is replaced, clients of tokens, waits and probes.
  statementNames: 300,
  /** Longer texts get no name: they are seldom repeated, and a connection keeps its named statements. */
  namedStatementChars: 16 * 1024,
  statementTextsChars: 4 * 1024 * 1024,
  tokenClients: 10_000,
  /** Digests of what cursors are bound to, by its text, and the characters of all of these texts. */
  boundDigests: 1000,
  boundDigestsChars: 1024 * 1024,
  pageReserveBytes: 1024 * 1024,
  raceRetries: 12,
  rowStreamWatchMs: 50,
  rowStreamSlackBytes: 1024 * 1024,
  /** How old what is read on a standby may be, and between looks at it: while it is read, and otherwise. */
  fenceAgeMs: 1000,
  fenceTickMs: 20,
  fenceIdleMs: 500,
  /** A standby that does not answer within this time is left, with all reads on it, and tried again later. */
  fenceSilentMs: 500,
  fenceRetryMs: 1000,
  fenceConnectMs: 2000,
  cancellerIdleMs: 10_000,
  cancellerPatienceMs: 5000,
  cancellerPingMs: 2000,
  cancellerRepeatMs: 500,
  outageLookMs: 500,
  /** A notification at the start must arrive within this time. */
  noticesProbeMs: 2000,
  noticesReconnectMs: 250,
  /** Size of the decision cache. Bounded, because callers choose the names. */
  accessDecisions: 1000,
  accessQuestionChars: 200,
  /** UTF-16 units of a step. */
  maskedStepChars: 64 * 1024,

  // Pages: rows of one step of a read that leaves some out, and what a cursor keeps.
  createdAtStepRows: 64,
  /** Rows per query. Most rows may be those of others. */
  filteredStepRows: 64,
  /** Maximum compression ratio of stored JSON, and the byte limit of a page. */
  compressionRatio: 100,
  decompressedPageBytes: 64 * 1024 * 1024,
  /** Rows that one step reads at most. With more, a read of the records in their order costs less. */
  linkedCandidates: 1000,
  /** Conditions of one statement, which reads each entry once for all of them. */
  matchedConditions: 50,
  claimPauseMs: 4,
  /** Rows of the first read. Later ones are as large as the rows that were read allow. */
  queryStepRows: 16,

  // Types that change: records of a step of their check, and records that are looked for by their values.
  /** Ids to keep. The types with the fewest suspects come first. */
  possiblyInvalidRecords: 10_000,
  /** Characters of all conditions. The types that have no room are read in steps, each by its own. */
  possiblyInvalidChars: 1_000_000,
  recheckedStep: 1000,
  /** Rounds over what others have written meanwhile, and how few entries end them. */
  precheckRounds: 4,
  precheckedFew: 200,
  recheckedLinks: 1000,
  /** Rows of one kind that are read at a time: first, and at most. */
  definitionsFirst: 4,
  definitionsAtOnce: 100,
  /** Bytes of a step, about: a megabyte takes some 50 ms. */
  definitionsStepBytes: 512 * 1024,

  // An import of a base: bytes of its file, of a line, lines of a statement, and contents, whose digests it remembers.
  importBytes: 1024 ** 4,
  importLineBytes: 16 * 1024 * 1024,
  importedLines: 1000,
  importedContents: 1_000_000,

  // The log: entries of a step, of its purge, and attempts of a snapshot.
  writtenSinceStep: 10_000,
  /** Number of checks that read only the snapshot, which is cheaper than pg_locks and usually sufficient. */
  snapshotAttempts: 3,
  logFilterChars: 1024,
  /** Entries per purge batch. Each batch is one short transaction. */
  purgedEntries: 500,
  /** Entries that one resource may have since its first change. With more, others have changed it. */
  undoneEntries: 11_000,
  /** Resources that are read together, and how many entries of each at first. Few have more. */
  undoneEntriesAtOnce: 1000,
  undoneEntriesFew: 10,
  /** Resources with more entries that are read together. */
  undoneLongAtOnce: 20,
  /** Records whose data are compared at a time. A record has up to a megabyte. */
  undoneMigratedAtOnce: 100,
  /** Steps per statement. A record has up to a megabyte. */
  undoneStepsAtOnce: 100,
  /** How many groups are counted first, when it is not known how large they are. */
  groupsFirstCounted: 20,
  followedTypesPending: 100,
  /** A wait of 0 seconds reads what is there. */
  changesWaitMinMs: 250,

  // Calls: how many wait to be stored, of one token and in total, and how many are stored at a time and how often.
  callsPending: 4000,
  callsPendingOfToken: 2000,
  callsAtOnce: 500,
  callsStoreMs: 1000,
  /** What is kept of a call. */
  callArgumentBytes: 2048,
  callMessageBytes: 1024,
  // Usage: how often it is added up, and of how many kinds of calls meanwhile, of one token and in total.
  usageStoreMs: 60_000,
  usageRows: 20_000,
  usageRowsOfToken: 1000,
  usageDays: 400,
  /** Rows of an answer. */
  usageAnswerRows: 10_000,

  // Jobs: rows of a step of a sweep, jobs at a time, and pauses.
  sweptRows: 5000,
  sweptAttachments: 2000,
  jobsAtOnce: 2,
  /** Polling interval for delayed jobs. New jobs are announced by NOTIFY. */
  jobPollMs: 2000,
  jobRestartMs: 1000,
  jobResumeMs: 60_000,
  statisticsPollMs: 2000,
  statisticsFirstPauseMs: 4000,
  statisticsLongestPauseMs: 10 * 60_000,
  /** Bytes of bodies that one look at the queue reads. */
  dispatchedBytes: 4 * 1024 * 1024,
  /** Deliveries in one statement. */
  relayedAtOnce: 2000,
  /** Entries that are matched at a time after a failure, which one heavy condition may have made. */
  relayedAfterFailure: 10,
  exportedTypesPage: 1000,
  /** Records per batch; small, since each may be large. */
  sampledAtOnce: 50,
  /** Bytes of text after which the event loop gets a turn. */
  sampledTurnChars: 256 * 1024,
  /** Operations of a batch that are looked at: the names of all others are mostly the same. */
  misspeltOperations: 200,

  // HTTP: responses that are counted, compressed and logged, and callers with a rate.
  /** Smaller responses are not counted. */
  countedAnswerBytes: 64 * 1024,
  documentSliceBytes: 128 * 1024,
  /** Minimum size: shorter responses fit in one or two packets. */
  compressedBytesMin: 1024,
  /** The parser of forms takes up to 4 us for a byte. */
  formSliceBytes: 4 * 1024,
  /** Responses up to this size are compressed synchronously, longer ones in the thread pool. */
  compressedAtOnceBytes: 8 * 1024,
  connectionLogMs: 60_000,
  ratedCallers: 50_000,
  loggedStateChars: 512,
  loggedStateMembers: 32,
  eventLoopTickMs: 20,
  /** Number of requests that a line names: the latest, since work begins soon after arrival. */
  slowTurnRequests: 5,

  // Look-ups of names that users chose, characters of their URLs.
  lookupMs: 3000,
  lookupTries: 2,
  /** Lookups by the system hold a thread, of which the process has four. */
  systemLookups: 1,
  /** Addresses of a name that are tried, of IPv4 and of IPv6. */
  addressesTried: 4,
  urlChars: 2048,

  // MCP: rows and tries of what is fitted, and how often a claim or a progress is looked at.
  fitTries: 10,
  /** Minimum number of rows on a page of overlong rows. */
  longRowsMin: 4,
  progressMs: 1000,
  recentTypesMs: 1000,
  claimRetryMs: 1000,
  textTries: 5,

  // S3: bytes of a line, trailers, bytes that are joined or read at a time, and seconds that a signature may hold.
  s3LineBytes: 1024,
  s3Trailers: 8,
  s3JoinedBytes: 16 * 1024,
  /** The parser takes up to 0.3 us for a byte. */
  s3XmlBytesAtOnce: 16 * 1024,
  s3SignedSeconds: 7 * 24 * 3600,

  // OAuth: validated tokens that are remembered, and when to ask again.
  issuedTokensKept: 1000,
  issuerRetrySeconds: 5,

  // The command line: records and characters of a step, pauses and attempts.
  /** A batch ends at so many records, or characters. */
  importedAtOnce: 500,
  importedChars: 4 * 1024 ** 2,
  /** Characters of a line, or of an item. */
  importLineChars: 8 * 1024 * 1024,
  followPauseMs: 1000,
  /** Maximum number of consecutive failed connection attempts. */
  followTries: 30,
  generatedTypesPage: 100,
  progressShownMs: 100,
  doctorMs: 5000,

  // The embedded PostgreSQL: how long its start, stop and probe may take, and how often they are looked at.
  clusterRetryMs: 1000,
  /** Interval of log rotation. A server process that runs out of memory writes some kilobytes. */
  clusterLogCheckMs: 60_000,
  clusterLogBytes: 4 * 1024 * 1024,
  clusterStartMs: 60_000,
  clusterFirstPauseMs: 10,
  clusterLongestPauseMs: 200,
  clusterStopPollMs: 10,
  clusterConnectMs: 5_000,
  /** Time in which the next process can take the server over. */
  clusterGraceSeconds: 5,
  /** How long a recovery of a backup may take. */
  clusterRecoveryMs: 24 * 3_600_000,

  // Backups of the embedded PostgreSQL.
  backupHours: 24,
  backupDays: 7,
  /** How often archived WAL is moved to the place of backups. */
  backupTickMs: 5_000,
  /** A write is in the archive after so long, even if its segment is not full. */
  archiveMs: 60_000,
  /** The diagnostics report an error when the last moment that can be restored is longer ago, in milliseconds. */
  archiveLagMs: 600_000,
  /** A failed backup is tried again after so long. */
  backupRetryMs: 10 * 60_000,
  /** Where less than the first share of the disk of the data is free, a failing archive stops; above the second it starts again. */
  archiveFree: { stop: 0.1, start: 0.15 },
  /** Files that are copied at once, and the level of zstd. */
  backupAtOnce: { directory: 4, bucket: 16 },
  backupCompression: 1,
  backupContentsPage: 10_000,
  /** How long a backup waits for the archive to have the last of its WAL. */
  backupWaitMs: 10 * 60_000,
  /** What an interrupted backup has left is removed after so long. */
  backupLeftoverMs: 24 * 3_600_000,
  /** How often a restored copy looks whether it may send. */
  holdPollMs: 500,
} as const
