import { Failure, toFailure } from './command/failure.ts'

/** Serves until a signal ends it. Loaded on demand: every other command is only a client. */
export async function serve(): Promise<void> {
  try {
    const { serve } = await import('../main.ts')
    await serve()
  } catch (error) {
    throw new Failure({ error: { code: 'NOT_STARTED', message: toFailure(error).message } }, { cause: error })
  }
}
