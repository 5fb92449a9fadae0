/** Every bound of a profile. */
export const BOUNDS = {
  /** Records of a sample, their JSON text in all, and that of the largest one that is looked at. */
  records: 2000,
  bytes: 8 * 1024 * 1024,
  recordBytes: 2 * 1024 * 1024,
  /** How long records are counted, and how long they are read; but always so many, and so many bytes. */
  countedAlways: 100_000,
  readAlways: 2 * 1024 * 1024,
  walkMs: 400,
  readMs: 500,
  /** Fields that are shown, and places in the data that are told apart while the sample is read. */
  fields: 100,
  places: 2000,
  /** The longest name of a field: what filters take. */
  fieldChars: 1024,
  /** Segments of a path after `data`. */
  depth: 6,
  /** Links that are counted of one relationship type in one direction. */
  countedLinks: 10_000,
  topValues: 5,
  /** Properties of one object of an example that are not asked for. */
  exampleProperties: 12,
  /** Schemas, and names in them, that an example is made from. */
  exampleSteps: 4000,
  /** The longest value that is shown, as JSON. */
  valueChars: 64,
  cacheMs: 30_000,
  cached: 200,
} as const
