import { Failure, toFailure } from './command/failure.ts'

/** Runs the server until a signal ends it. Loaded on demand, because all other commands are only clients. */
export async function serve(): Promise<void> {
  try {
    const { serve } = await import('../main.ts')
    await serve()
  } catch (error) {
    throw new Failure({ error: { code: 'NOT_STARTED', message: toFailure(error).message } }, { cause: error })
  }
}
