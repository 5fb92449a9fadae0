/** `plinth export <type>`: the records of a type as NDJSON or CSV, as `plinth import` reads them. */
import type { Command } from 'commander'
import { get } from './command/client.ts'
import { configure, valued } from './command/command.ts'
import { misused } from './command/failure.ts'
import { sourceOf } from './command/options.ts'
import { type Flags, readSettings, serverUrl, tokenFor } from './command/settings.ts'
import { formatOf } from './record-files/format.ts'
import { downloadWhole } from './transfer.ts'

type ExportFlags = { format?: string; output?: string; filter?: string; asOf?: string }
const TYPES = { csv: 'text/csv', ndjson: 'application/x-ndjson' }

export function addExport(program: Command): void {
  configure(program.command('export').description('Write the records of a type to a file: NDJSON or CSV'))
    .argument('<type>', 'the record type')
    .addOption(valued('--output <file>', 'the file (default: standard output)'))
    .addOption(valued('--format <format>', 'ndjson or csv (default: by the name of the file, else ndjson)'))
    .addOption(valued('--filter <json>', 'only these records (JSON, @file, or - for standard input)'))
    .addOption(
      valued('--as-of <time>', 'state at this time, such as 2026-01-31T09:30:00Z, or an age such as 2h'),
    )
    .action(async (type: string, { format, output, filter, asOf }: ExportFlags) => {
      const settings = readSettings(program.opts<Flags>())
      const { base } = settings
      const accept = TYPES[formatOf(format, output)]
      if (base === undefined) throw misused('The base is missing. Pass --base <id>, or set PLINTH_BASE.')
      const query = new URLSearchParams({ limit: 'all', sort: 'created_at,id', fields: FIELDS })
      if (filter !== undefined) query.set('filter', (await sourceOf(filter, '--filter')).toString().trim())
      if (asOf !== undefined) query.set('as_of', asOf)
      const url = serverUrl(settings)
      const path = `/${encodeURIComponent(base)}/records/${encodeURIComponent(type)}`
      const request = { ...get(path, query), headers: { accept } }
      const token = tokenFor(url, settings)
      const { json: asJson } = program.opts<Flags>()
      await downloadWhole(url, token, request, { target: output, said: 'The records are in', asJson })
    })
}

const FIELDS = 'id,external_id,external_source,data'
