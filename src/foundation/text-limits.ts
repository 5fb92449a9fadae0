/** What errors, hints, tables and descriptions show at most. `limits.ts` includes it. */
export const TEXT_LIMITS = {
  // Faults of an import that are listed.
  importFaultsShown: 50,

  // Characters of a route in an error or advice, and queries of other languages that a hint translates.
  routeShownChars: 128,
  advisedRouteChars: 512,
  /** Maximum length of a hint and of the text to parse. */
  translatedFilterChars: 10 * 1024,
  operatorWordChars: 40,
  translatedAggregations: 20,
  translatedAggregationChars: 256,
  translatedNameChars: 1024,
  translatedValueChars: 10 * 1024,
  translatedTerms: 32,
  translatedTermChars: 256,
  translatedValues: 200,
  translatedSqlChars: 2000,
  /** Maximum depth of nested properties above a test. */
  translatedNesting: 10,

  // Hints: characters, keys and names that one repeats.
  wrapperHintChars: 2000,
  wrapperHintKeys: 50,
  typedToolHintChars: 2000,
  /** Characters of a name that are compared and shown. */
  misspeltChars: 64,
  allowedFieldsShown: 50,
  allowedValuesShown: 50,
  valueShownChars: 50,
  propertiesNamed: 10,
  propertiesNamedChars: 200,
  warningPlaces: 5,
  warningWordChars: 60,
  advisedValues: 10,
  directionNames: 5,
  indexAdviceFields: 3,
  toolKeysShown: 20,

  // Messages about SQL.
  sqlAdvice: 3,
  sqlValueShownChars: 64,
  sqlPlacesShown: 3,
  sqlEndTypesAllowed: 20,
  /** Maximum number of names considered for a hint. */
  sqlHintedColumns: 5000,
  sqlRelationsAllowed: 50,
  sqlColumnsAllowed: 100,
  sqlNearChars: 24,

  // Lines of changes, and the sentence of a promotion.
  changeValueChars: 200,
  changesNamed: 5,
  promotionNamed: 5,
  /** Longer ones are named, and not written out. */
  migrationShownChars: 2000,
  planWords: 5,
  sourceAnswerShownChars: 500,
  jobErrorChars: 200,

  // Descriptions of types in OpenAPI and GraphQL.
  /** Characters of one schema. A larger one is written with fewer levels. */
  openapiSchemaChars: 100_000,
  openapiEnumValues: 250,
  openapiDescriptionChars: 500,
  openapiFilterFields: 200,
  openapiFilterValues: 100,
  graphqlNameChars: 128,
  graphqlEnumValues: 250,
  graphqlDescriptionChars: 400,

  // Schemas in the portable subset: characters of names, texts, examples and patterns, and values of an enum.
  portableEnumValues: 250,
  portableEnumChars: 200,
  portableSampleChars: 200,
  portableDescriptionChars: 500,
  /** Maximum characters of a description with its generated sentences. */
  portableWordsChars: 900,
  /** Maximum characters of the own name of a renamed property. */
  renamedNameChars: 100,
  portablePatternChars: 300,
  portableNameChars: 64,
  portableSchemaBytes: 100_000,
  portableWarnings: 20,

  // Types and tools as models see them: one type in a line, its profile, its examples.
  typeLineNameChars: 64,
  typeLineValueChars: 30,
  typeLineValues: 12,
  typeLineParts: 8,
  misnamedTypesShown: 3,
  /** Fields in the result unless the model asks for all, because output costs tokens. */
  describedFields: 40,
  exampleTries: 3,
  /** Longest array or object that is its own key; a longer one is keyed by its digest. */
  valueKeyChars: 128,
  exampleRows: 10,

  /** Bounds of `max_string`, and how many of the strings that it cuts are listed. */
  cutStringsLeast: 20,
  cutStringsMost: 1_000_000,
  cutStringsListed: 1000,
  /** Of the title that a list shows of a record. */
  titleChars: 120,

  // Answers of other MCP tools and resources: titles, rows, groups and changes that they list.
  recordTitleChars: 200,
  /** Number of text properties to fall back to. */
  recordTitleTexts: 3,
  documentTitleChars: 200,
  previewsListed: 100,
  /** Changes that an answer of promote names. */
  promotionChangesShown: 50,
  /** Definitions of one call, beside the first. */
  definitionsOfCall: 20,
  /** Groups that a cut answer counts, and names. */
  cutGroupsCounted: 100,
  cutGroupsNamed: 5,
  /** Requests that the plan for the last one names besides. */
  recentRequestsNamed: 4,
  /** Resources that a plan or an answer names one by one. */
  changedResourcesNamed: 10,
  /** Default row limit, because output costs tokens. */
  sqlToolRows: 100,
  sqlToolGroups: 8,

  // The search of the guides: characters and words that are looked for, sections, and characters of each.
  guideSearchChars: 100,
  guideSearchWords: 8,
  guideSectionsFound: 40,
  guideExcerptChars: 160,

  // Texts of the command line: paths of generated types, values of an enum, steps and characters of a change.
  generatedFields: 500,
  /** An enum with more values is written as the kinds of its values. */
  generatedEnumValues: 100,
  changeStepsShown: 8,
  changeTextChars: 60,
} as const
