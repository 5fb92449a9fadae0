/** `plinth serve`: runs the server until a signal ends it. */
import type { Command } from 'commander'
import { configure, valued } from './command/command.ts'
import { Failure, toFailure } from './command/failure.ts'

type ServeFlags = { host?: string; port?: string; dataDir?: string; adoptStore?: boolean }

/** Flags of the settings that differ most. All others are environment variables. */
const SETTINGS: Readonly<Record<keyof ServeFlags, string>> = {
  host: 'PLINTH_HOST',
  port: 'PLINTH_PORT',
  dataDir: 'PLINTH_DATA_DIR',
  adoptStore: 'PLINTH_ADOPT_STORE',
}

const ABOUT = `
All settings are environment variables. The most used are:
  PLINTH_HOST, PLINTH_PORT    where to listen (127.0.0.1, 4000)
  PLINTH_PUBLIC_URL           the address that clients use, when it is another
  PLINTH_DATA_DIR             database, contents of files, admin token (.plinth)
  DATABASE_URL                a PostgreSQL of your own (default: an embedded one)
  PLINTH_ADMIN_TOKEN          the first admin token (default: made on the first start)
  PLINTH_RATE_LIMIT           requests a minute for each token (1200; 0 is off)
  PLINTH_PAUSE_ABOVE          changes in an hour that pause no token which proposes or has rules (1000; 0 is off)
  PLINTH_LOG_LEVEL            trace, debug, info, warn, error, silent (info)
  PLINTH_LOG_FORMAT           json, pretty (pretty on a terminal)
DATABASE_URL_FILE, PLINTH_ADMIN_TOKEN_FILE and PLINTH_MASTER_KEY_FILE name files with these secrets.
The others are in the README, under Settings.
`

export function addServe(program: Command): void {
  configure(program.command('serve').description('Run the server'))
    .addOption(valued('--host <address>', 'the address to listen on (or PLINTH_HOST)'))
    .addOption(valued('--port <number>', 'the port, 0 for any free one (or PLINTH_PORT)'))
    .addOption(valued('--data-dir <directory>', 'where the data is (or PLINTH_DATA_DIR)'))
    .option('--adopt-store', 'use the store of contents though it has the id of another database')
    .addHelpText('after', ABOUT)
    .action(async (flags: ServeFlags) => {
      for (const [flag, setting] of Object.entries(SETTINGS)) {
        const value = flags[flag as keyof ServeFlags]
        if (value !== undefined) process.env[setting] = String(value)
      }
      await serve()
    })
}

/** The server is loaded on demand, because all other commands are only clients. */
async function serve(): Promise<void> {
  try {
    const { serve } = await import('../main.ts')
    await serve()
  } catch (error) {
    throw new Failure({ error: { code: 'NOT_STARTED', message: toFailure(error).message } }, { cause: error })
  }
}
