/** `plinth backup`, `plinth restore` and `plinth deliveries resume`: they work on the data directory, beside the server. */
import type { Command } from 'commander'
import { z } from 'zod'
import { configure, valued } from './command/command.ts'
import { Failure, misused, toFailure } from './command/failure.ts'
import { note, showJson, showOne, showRows } from './command/print.ts'
import { type Flags, readSettings } from './command/settings.ts'

const commands = () => import('../backup/commands.ts')

export function addBackup(program: Command, fail: () => void): void {
  const show = (body: object, onTerminal: () => void = () => showOne(body)) =>
    program.opts<Flags>().json
      ? showJson({ text: JSON.stringify(body), body, replayed: false })
      : onTerminal()

  const backup = configure(
    program.command('backup').description('Make a backup of the running server of the data directory'),
  )
    .option('--with-keys', 'include the master key and the admin token')
    .action(async ({ withKeys = false }: { withKeys?: boolean }) => {
      const { backupNow } = await commands()
      const made = await backupNow({ withKeys, note }).catch(local)
      show(made)
      note(withKeys ? WITH_KEYS : WITHOUT_KEYS)
    })
  configure(backup.command('list').description('List backups, oldest first')).action(async () => {
    const found = await (await commands()).listBackups().catch(local)
    show(found, () => showRows(found.data, COLUMNS))
  })
  configure(backup.command('verify').description('Read a whole backup. Exit code 1: something is missing'))
    .argument('<id>')
    .action(async (id: string) => {
      const { faults, ...rest } = await (await commands()).verifyOne(id).catch(local)
      show({ ...rest, faults }, () => showOne(rest))
      if (faults.length === 0) return
      if (!program.opts<Flags>().json) note(`${faults.join('\n')}\n`)
      fail()
    })
  configure(
    backup
      .command('contents')
      .description('Copy contents of files only, as for a database of your own (DATABASE_URL)'),
  ).action(async () => show(await (await commands()).backupContents({ note }).catch(local)))

  configure(
    program.command('restore').description('Make a data directory of a backup, as it was at a moment'),
  )
    .argument('<backups>', 'the directory, file:/// or s3:// address of backups')
    .addOption(valued('--to <directory>', 'the new data directory').makeOptionMandatory())
    .addOption(valued('--at <time>', 'the moment, such as 2030-01-31T12:00:00Z (default: the last one)'))
    .action(async (backups: string, { to, at }: { to: string; at?: string }) => {
      if (at !== undefined && !z.iso.datetime({ offset: true }).safeParse(at).success)
        throw misused(`--at: "${at}" is no moment. Send one with its zone, such as 2030-01-31T12:00:00Z.`)
      const { missing_contents: lost, ...rest } = await (await commands())
        .restoreTo(backups, { to, at, note })
        .catch(local)
      show({ ...rest, missing_contents: lost }, () => showOne(rest))
      note(`${rest.keys ? '' : NO_KEYS}Nothing is sent from ${to} until "plinth deliveries resume" there.\n`)
      if (lost.length === 0) return
      note(`The backup lacks these contents of files; the rest is whole:\n${lost.join('\n')}\n`)
      fail()
    })

  const deliveries = program.commands.find((each) => each.name() === 'deliveries')
  if (!deliveries) return
  configure(
    deliveries.command('resume').description('Let a restored copy send: deliveries, and requests of actions'),
  ).action(async () => {
    const { dataDir } = readSettings(program.opts<Flags>())
    const { release } = await import('../backup/hold.ts')
    const isReleased = await release(dataDir).catch(local)
    if (!isReleased) throw local(new Error(`${dataDir} is no restored copy that is held: it sends already.`))
    show({ deliveries: 'on' }, () => note('The copy sends from now on.\n'))
  })
}

const COLUMNS = [
  'id',
  'is_complete',
  'bytes',
  'stored_bytes',
  'contents',
  'keys',
  'restorable_from',
  'restorable_to',
]
const WITH_KEYS = 'The backup has the keys: who can read it can read all secrets.\n'
const WITHOUT_KEYS =
  'The master key is not in the backup. Keep it elsewhere: without it the secrets of a restored copy cannot be read.\n'
const NO_KEYS =
  'The master key was not in the backup: put it into the file master-key there, or set PLINTH_MASTER_KEY.\n'

/** A failure of this machine, and of no request. */
function local(error: unknown): never {
  if (error instanceof Failure) throw error
  const { message } = toFailure(error)
  const advice = adviceOn(error)
  throw new Failure(
    { error: { code: 'FAILED', message: advice ? `${message}. ${advice}` : message, details: [] } },
    { cause: error },
  )
}

/** What to do about a failure of the system, which says only what has failed. */
function adviceOn(error: unknown): string | undefined {
  const { code = '', message } = error as NodeJS.ErrnoException
  if (['ENOSPC', 'EDQUOT'].includes(code)) return 'Make room on the disk, and run the same command again.'
  if (['EACCES', 'EPERM'].includes(code)) return 'Run the command as the user of the server, or as root.'
  const isPostgres = ['ECONNREFUSED', 'ENOENT'].includes(code) && message.includes('.s.PGSQL.')
  return isPostgres ? 'The server has ended. Start it, and run the same command again.' : undefined
}
