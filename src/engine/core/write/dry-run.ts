/** Thrown to roll back a dry run and return its response. */
export class Undone extends Error {
  readonly answer: unknown
  constructor(answer: unknown) {
    super('dry run')
    this.answer = answer
  }
}

/** Runs what ends a transaction, also that of a dry run, which is judged as the write is. */
export async function ending<T>(work: Promise<T>, end: (isDryRun: boolean) => Promise<void>): Promise<T> {
  try {
    const done = await work
    await end(false)
    return done
  } catch (thrown) {
    if (thrown instanceof Undone) await end(true)
    throw thrown
  }
}
