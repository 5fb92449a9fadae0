/** `plinth base export | import`: a base as one file. */
import { open } from 'node:fs/promises'
import type { Command } from 'commander'
import { type Answer, type Call, get } from './command/client.ts'
import { configure, valued } from './command/command.ts'
import { misused, unreadable } from './command/failure.ts'
import { note, show, showJson } from './command/print.ts'
import { type Flags, readSettings, serverUrl, tokenFor } from './command/settings.ts'
import { downloadWhole, upload } from './transfer.ts'

type ExportFlags = { history: boolean; output?: string }
type ImportFlags = { as?: string; dryRun?: true; idempotencyKey?: string }

export function addBaseFile(program: Command): void {
  const group = program.commands.find((command) => command.name() === 'base')
  if (!group) throw new Error('There is no command "base"')
  const command = (name: string, about: string) => configure(group.command(name).description(about))

  command('export', 'Write a base with its history and files to one file, which "base import" reads')
    .argument('<id>')
    .addOption(valued('--output <file>', 'the file (default: <id>.plinth.tar; - for standard output)'))
    .option('--no-history', 'leave out former versions and the trash')
    .action(async (id: string, { history, output = `${id}.plinth.tar` }: ExportFlags) => {
      const settings = readSettings(program.opts<Flags>())
      const url = serverUrl(settings)
      const query = new URLSearchParams(history ? {} : { history: 'false' })
      const request: Call = { ...get(`/${encodeURIComponent(id)}/export`, query), headers: { accept: '*/*' } }
      const target = output === '-' ? undefined : output
      const { json: asJson } = program.opts<Flags>()
      await downloadWhole(url, tokenFor(url, settings), request, { target, said: 'The base is in', asJson })
    })

  command('import', 'Make a base of a file that "base export" has written')
    .argument('<file>', 'the file; - for standard input')
    .addOption(valued('--as <id>', 'the id of the new base (default: that of the base that was exported)'))
    .option('--dry-run', 'check the file, without making the base')
    .addOption(valued('--idempotency-key <key>', 'idempotency key: retries with it take effect once'))
    .action(async (file: string, { as, dryRun, idempotencyKey }: ImportFlags) => {
      const settings = readSettings(program.opts<Flags>())
      const { json } = program.opts<Flags>()
      const url = serverUrl(settings)
      const id = as ?? (await idIn(file))
      const request: Call = {
        ...{
          method: 'PUT',
          path: `/bases/${encodeURIComponent(id)}/import`,
          body: undefined,
          streams: false,
        },
        query: new URLSearchParams(dryRun && { dry_run: 'true' }),
        headers: {
          'content-type': 'application/x-tar',
          ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
        },
      }
      const answer = await upload(url, tokenFor(url, settings), request, file)
      if (json) showJson(answer)
      else showImported(answer)
    })
}

type Imported = {
  base: { id: string }
  counts: Record<string, number>
  secrets?: readonly { kind: string; id: string; secret: string | null }[]
  disabled_triggers: readonly string[]
  dry_run?: true
}

function showImported({ text, body, replayed }: Answer): void {
  const { base, counts, secrets = [], disabled_triggers: triggers, dry_run: isDry } = body as Imported
  show({ text, body: { base: base.id, ...counts }, replayed }, [])
  for (const { kind, id, secret } of secrets)
    if (secret !== null) note(`New secret of the ${kind} ${id}: ${secret}\n`)
  if (triggers.length > 0) note(`These triggers are off until you enable them: ${triggers.join(', ')}.\n`)
  note(isDry ? 'The file is whole. Nothing was imported.\n' : `The base "${base.id}" is imported.\n`)
}

/** The id of the base that the file is of, which is in its first member. */
async function idIn(file: string): Promise<string> {
  if (file === '-') throw misused('Standard input is read once: name the new base with --as <id>.')
  const handle = await open(file).catch((error: unknown) => {
    throw unreadable(file, error)
  })
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(BEGINNING), 0, BEGINNING, 0)
    const size = Number.parseInt(buffer.toString('latin1', 124, 135), 8)
    const { base } = JSON.parse(buffer.toString('utf8', HEADER, Math.min(bytesRead, HEADER + size))) as {
      base: { id: string }
    }
    return String(base.id)
  } catch {
    throw misused(`${file} is no export of a base.`)
  } finally {
    await handle.close()
  }
}

const HEADER = 512
const BEGINNING = 1024 * 1024
