/** Limits of the process: times, connections, rates, queries and streams. `limits.ts` includes them. */
export const SERVER_LIMITS = {
  requestTimeoutMs: 30_000,
  /** An event loop pass longer than this is logged, because it delays every other request. */
  turnMs: 100,
  /** A read that takes longer than this is cancelled when its client disconnects. */
  watchAfterMs: 100,
  drainMs: 25_000,
  /** The part of `drainMs` that requests in flight may use. */
  finishMs: 18_000,
  /** At shutdown, a connection that has sent nothing is closed after this time. */
  silentConnectionMs: 200,
  /** Size of the connection pool: enough to keep two PostgreSQL cores busy, as concurrent requests share statements. */
  databaseConnections: 6,
  /** Attempts of a write that loses races with other writers. */
  raceTries: 50,
  /** Connection queue: maximum wait, and maximum number of queued statements of one token. */
  connectionWaitMs: 8000,
  queuedOfToken: 250,
  /** Concurrent polling queries of long polls and list subscriptions: of one token, and in total. */
  pollsOfToken: 1,
  pollsInAll: 3,
  /**
   * How far a polling query may run past the deadline of its long poll before the last result is returned.
   */
  pollGraceMs: 2000,
  /** Grace period for the database to report a statement timeout after the deadline of the statement. */
  silenceMs: 1000,
  /** Heartbeat of LISTEN connections: interval, and timeout. */
  heartbeatMs: 3000,
  /** Interval of the write probe of `/readyz`. */
  writeProbeMs: 3000,
  requestsPerMinute: 1200,
  requestBurst: 200,
  /** Authentication failures per minute of one client address before it is rate-limited. */
  authFailuresPerMinute: 300,
  /**
   * Rate limit of one client address for requests without a token (pages, scripts, API descriptions). A proxy
   * is one address.
   */
  visitsPerMinute: 600,
  visitBurst: 200,
  /** Connection limits: open connections, timeout for request headers, and interval of that timeout check. */
  connections: 1024,
  headersTimeoutMs: 10_000,
  connectionCheckMs: 2000,
  /** Characters of one parameter of a path: a filename in percent-escapes. */
  pathParameterChars: 4096,
  graphqlDepth: 12,
  graphqlCost: 5000,
  graphqlAliases: 50,
  graphqlTokens: 2000,
  /** GraphQL text limits, checked before parsing: bytes, and nesting depth of brackets. */
  graphqlTextBytes: 100 * 1024,
  graphqlNesting: 200,
  /** Texts of the GraphQL documents that are kept parsed. In memory they take a hundred times as much. */
  graphqlCacheChars: 256 * 1024,
  /**
   * GraphQL schemas of bases: record types of one, characters of their JSON Schemas, fields of all that are kept built,
   * characters of the texts of schemas and of the answers to introspection that are kept.
   */
  typedSchemaTypes: 5000,
  typedSchemaChars: 8 * 1024 * 1024,
  typedSchemaFields: 20_000,
  typedSchemaTextChars: 32 * 1024 * 1024,
  /** OpenAPI descriptions of bases: characters of one, and of all that are kept. */
  baseDescriptionChars: 16 * 1024 * 1024,
  baseDescriptionsChars: 32 * 1024 * 1024,
  /** Introspection of a base: characters of an answer, time, memory of the thread, and requests that wait for one. */
  introspectionChars: 48 * 1024 * 1024,
  introspectionMs: 15_000,
  introspectionMegabytes: 512,
  introspectionsWaiting: 8,
  /** Cost of a record of a page in the schema of a base. 100 records with 100 each stay below the default limit. */
  typedRecordCost: 0.1,
  /** Cost of a request to an external source there. */
  typedSourceCost: 200,
  /**
   * SQL endpoint: rows, time and bytes of a response; concurrent statements of the process and of one token.
   */
  sqlRows: 1000,
  sqlTimeoutMs: 10_000,
  sqlBytes: 16 * 1024 * 1024,
  /** Schemas in the catalogs that SQL statements are checked against, in bytes. In memory they take ten times as much. */
  sqlCatalogBytes: 8 * 1024 * 1024,
  /** Rows that one SQL statement may write. */
  sqlWriteRows: 1000,
  sqlStatements: 4,
  sqlStatementsOfToken: 2,
  /**
   * Whole results, streamed from one snapshot: concurrent ones of the process and of one token, how long one may take,
   * and bytes that are read ahead of the client.
   */
  wholeResults: 4,
  wholeResultsOfToken: 2,
  wholeResultMs: 60 * 60_000,
  streamedBytes: 256 * 1024,
  /** Change feed: polling interval while a client listens, and retry delay after a failure. */
  feedTickMs: 50,
  feedRetryMs: 1000,
  /**
   * Shared buffer of a base's change feed, in entries and bytes. A stream that lags further reads the log
   * itself.
   */
  feedTailEntries: 1000,
  feedTailBytes: 4 * 1024 * 1024,
  /** Entries per read: for all streams of a base, and for one stream that catches up. */
  feedStretch: 100,
  feedCatchUp: 20,
  /**
   * Entries that a read of the log scans for matches of its filter and grants: in its first step, and in each
   * further step while nothing matches.
   */
  feedReach: 20_000,
  feedLongReach: 100_000,
  /**
   * Event streams: maximum number of open streams of one token, and interval at which grants are checked
   * again.
   */
  streamsOfToken: 100,
  streamCheckMs: 500,
  streamHeartbeatMs: 15_000,
  /** List subscriptions: entries per filter match, and minimum pause between two matches. */
  matchedEntries: 1000,
  matchPauseMs: 200,
  /** Subscriptions of one token: resources of a base, and distinct filters among them. */
  followedOfToken: 5000,
  followedFilters: 100,
  /** How long a read of the log waits for open transactions to commit. */
  feedWaitMs: 1000,
  /**
   * Requests to addresses that users chose: total time, kept bytes of the answer, bytes of its headers, and how long
   * an idle connection is kept.
   */
  egressTimeoutMs: 15_000,
  egressAnswerBytes: 64 * 1024,
  egressHeaderBytes: 16 * 1024,
  egressIdleMs: 10_000,
  /** Deliveries of triggers: waits before each retry; the last one repeats. */
  deliveryScheduleMs: [5000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000],
  /** Deliveries in flight: of the process, of one trigger, and of one trigger whose receiver is slow or fails. */
  deliveries: 256,
  deliveriesOfTrigger: 32,
  deliveriesOfSlow: 2,
  /** A receiver that takes longer than this to answer counts as slow. */
  slowReceiverMs: 1000,
  /** Bytes of bodies of deliveries in flight: of the process, and of one trigger. */
  deliveryBytes: 128 * 1024 * 1024,
  deliveryBytesOfTrigger: 4 * 1024 * 1024,
  /** Longest pause between attempts at a receiver that fails. */
  failingPauseMs: 1000,
  /** How often due deliveries are looked for, and outcomes are stored. */
  deliveryPollMs: 250,
  deliveryStoreMs: 20,
  /** How many deliveries of one base and status are counted for `/metrics`. */
  deliveriesCounted: 10_000,
  /** How long a replay of many deliveries to inbound webhooks goes on. The rest is left for another one. */
  replayMs: 15_000,
  /** How often refused deliveries to inbound webhooks are counted in the database. */
  refusalsStoreMs: 2000,
  /** How long deliveries in flight may take at shutdown. */
  deliveryFinishMs: 5000,
  /** Entries of the log that are matched with triggers at a time. */
  relayedEntries: 500,
  /** Deliveries that these can make; a base with many triggers matches fewer entries at a time. */
  relayedDeliveries: 20_000,
  /** How often a process tries to become the one that delivers. */
  leaderRetryMs: 1000,
  /** Backlog of an event stream, in bytes, before its reader is disconnected. */
  streamBacklogBytes: 4 * 1024 * 1024,
} as const
