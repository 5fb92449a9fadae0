/** The command line. API commands are rows of nouns; `serve` and `mcp` run a server. */
import { Command, CommanderError, Option as Flag } from 'commander'
import { packageVersion } from '../foundation/version.ts'
import { addBackup } from './backup.ts'
import { addBaseFile } from './base-file.ts'
import { type Call, call, get } from './command/client.ts'
import { type Asked, argumentsOf, configure, type Row, requestOf, valued } from './command/command.ts'
import { confirmed } from './command/confirm.ts'
import { describe, EXIT, Failure, inCommands, misused, toFailure } from './command/failure.ts'
import { type Option, yes } from './command/options.ts'
import { note, noteFailure, show, showJson, showJsonLine } from './command/print.ts'
import { type Flags, readSettings, serverUrl, tokenFile, tokenFor } from './command/settings.ts'
import { addCompletion } from './completion.ts'
import { addDoctor } from './doctor.ts'
import { addExport } from './export.ts'
import { follow } from './follow.ts'
import { addGen } from './gen.ts'
import { addImport } from './import.ts'
import { CLIENT_NAMES, mcpConfig } from './mcp-relay/client-config.ts'
import { showTools } from './mcp-tools.ts'
import { addOpen } from './open.ts'
import { addReplay } from './replay.ts'
import { action } from './resources/action.ts'
import { aggregate } from './resources/aggregate.ts'
import { attachment } from './resources/attachment.ts'
import { base } from './resources/base.ts'
import { batch } from './resources/batch.ts'
import { calls, usage } from './resources/calls.ts'
import { changes, revert, trace } from './resources/changes.ts'
import { claim, claims } from './resources/claims.ts'
import { config } from './resources/config.ts'
import { deliveries } from './resources/deliveries.ts'
import { endpoint } from './resources/endpoint.ts'
import { file } from './resources/file.ts'
import { fileType } from './resources/file-type.ts'
import { inboundWebhook } from './resources/inbound-webhook.ts'
import { discard, preview, review, submit } from './resources/preview.ts'
import { promote, promotion, propose, rollback } from './resources/promotion.ts'
import { provider } from './resources/provider.ts'
import { query } from './resources/query.ts'
import { queryBases } from './resources/query-bases.ts'
import { record } from './resources/record.ts'
import { recordType } from './resources/record-type.ts'
import { relationship } from './resources/relationship.ts'
import { relationshipType } from './resources/relationship-type.ts'
import { reviewRequest } from './resources/review-request.ts'
import { s3Credential } from './resources/s3-credential.ts'
import { seed } from './resources/seed.ts'
import { sql } from './resources/sql.ts'
import { sqlWrite } from './resources/sql-write.ts'
import { token, whoami } from './resources/token.ts'
import { toolset } from './resources/toolset.ts'
import { trash } from './resources/trash.ts'
import { trigger } from './resources/trigger.ts'
import { vault } from './resources/vault.ts'
import { wait } from './resources/wait.ts'
import { addServe } from './serve.ts'
import { download, upload } from './transfer.ts'

const NOUNS = [
  token,
  base,
  preview,
  config,
  promotion,
  reviewRequest,
  recordType,
  record,
  attachment,
  relationshipType,
  relationship,
  fileType,
  file,
  s3Credential,
  endpoint,
  toolset,
  seed,
  action,
  trigger,
  inboundWebhook,
  vault,
  provider,
  claims,
  deliveries,
  trash,
]
/** Commands that belong to no noun. */
const ROWS = [
  whoami,
  propose,
  submit,
  discard,
  review,
  promote,
  rollback,
  query,
  queryBases,
  aggregate,
  batch,
  sql,
  sqlWrite,
  calls,
  usage,
  changes,
  revert,
  trace,
  claim,
  wait,
]

/**
 * Runs one command line.
 * @returns the exit code: 0 on success, 1 for a failed request, 2 for wrong usage; of a diff, 2 for changes and 64
 * for wrong usage
 */
export async function main(argv: readonly string[]): Promise<number> {
  // The reader of a pipe may exit early, as `head` does. That is not a failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) =>
    process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failed),
  )
  // Output without a reader is not needed.
  process.stderr.on('error', () => {})
  const outcome: Outcome = { exitCode: EXIT.ok, misused: EXIT.usage }
  const program = build(argv, outcome)
  try {
    await program.parseAsync([...argv], { from: 'user' })
    return outcome.exitCode
  } catch (thrown) {
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return EXIT.ok
    const failure = thrown instanceof CommanderError ? usageOf(thrown, program, argv) : toFailure(thrown)
    if (failure) report(failure, argv.includes('--json'))
    return failure && failure.exitCode !== EXIT.usage ? failure.exitCode : outcome.misused
  }
}

/** What the command that ran leaves. */
type Outcome = {
  exitCode: number
  /** The exit code of wrong usage. */
  misused: number
}

/** Builds the command tree. */
function build(argv: readonly string[], outcome: Outcome): Command {
  const program = new Command('plinth')
    .description('A self-hosted data layer for software agents.')
    .addOption(valued('--url <url>', 'server URL (or PLINTH_URL)'))
    .addOption(
      valued(
        '--token <token>',
        'API token (better PLINTH_TOKEN, which other users cannot see; default: the admin token of the data directory)',
      ),
    )
    .addOption(valued('--base <id>', 'base id (or PLINTH_BASE)'))
    .option('--json', 'print the JSON response of the API')
  configure(program)
  // Define --version only without a command, because some commands use it for the version of a record.
  if (argv.every((each) => each.startsWith('-')))
    program.version(packageVersion(), '--version', 'print the version')
  addServe(program)
  addMcp(program)
  addOpen(program)
  addGen(program)
  addImport(program)
  addExport(program)
  addReplay(program, (exitCode, misused) => Object.assign(outcome, { exitCode, misused }))
  addDoctor(program, () => {
    outcome.exitCode = EXIT.failed
  })
  for (const noun of NOUNS) {
    const group = configure(program.command(noun.name).description(noun.summary))
    for (const row of noun.rows) addRow(group, program, noun.columns, row, outcome)
  }
  addBaseFile(program)
  for (const row of ROWS) addRow(program, program, [], row, outcome)
  addBackup(program, () => {
    outcome.exitCode = EXIT.failed
  })
  addCompletion(program)
  groupCommands(program)
  return program
}

/** The help lists commands by what they are for. */
const GROUPS: readonly (readonly [heading: string, names: readonly string[]])[] = [
  ['Start here:', ['serve', 'doctor', 'open', 'mcp']],
  ['The server of this machine:', ['backup', 'restore']],
  [
    'Configuration of a base:',
    [
      'base',
      'record-type',
      'relationship-type',
      'file-type',
      'endpoint',
      'toolset',
      'action',
      'trigger',
      'inbound-webhook',
      'deliveries',
      'provider',
      'gen',
    ],
  ],
  [
    'Records and files:',
    [
      'record',
      'query',
      'aggregate',
      'sql',
      'relationship',
      'attachment',
      'file',
      'import',
      'export',
      'batch',
      'sql-write',
      'query-bases',
      'wait',
      'claim',
      'claims',
    ],
  ],
  ['History:', ['changes', 'trace', 'revert', 'trash', 'calls', 'replay', 'usage']],
  [
    'Previews and config files:',
    [
      'preview',
      'config',
      'seed',
      'propose',
      'submit',
      'discard',
      'review',
      'review-request',
      'promote',
      'promotion',
      'rollback',
    ],
  ],
  ['Access:', ['whoami', 'token', 'vault', 's3-credential']],
]

function groupCommands(program: Command): void {
  const names = GROUPS.flatMap(([, names]) => names)
  for (const [heading, group] of GROUPS)
    for (const name of group) program.commands.find((each) => each.name() === name)?.helpGroup(heading)
  const rank = (command: Command) => (names.indexOf(command.name()) + names.length + 1) % (names.length + 1)
  ;(program.commands as Command[]).sort((one, other) => rank(one) - rank(other))
}

type McpFlags = { endpoint?: string; readOnly?: true; types?: string; tools?: string; profile?: string }

function addMcp(program: Command): void {
  const mcp = configure(program.command('mcp').description('Run the MCP relay on standard input and output'))
    .addOption(valued('--endpoint <id>', 'an endpoint of the base'))
    .option('--read-only', 'offer read-only tools only')
    .addOption(valued('--types <ids>', 'only these record types, comma-separated'))
    .addOption(valued('--tools <names>', 'only these tools, comma-separated'))
    .addOption(valued('--profile <name>', 'lean: list at most six tools, under 900 tokens'))
  const asked = () => {
    const settings = readSettings(program.opts<Flags>())
    const { readOnly: isReadOnly = false, ...flags } = mcp.opts<McpFlags>()
    return { settings, scope: { ...flags, base: settings.base, isReadOnly } }
  }
  mcp.action(async () => {
    const { settings, scope } = asked()
    const { mcp: run } = await import('./mcp.ts')
    await run(settings, scope)
  })
  configure(mcp.command('config').description('Print the configuration of an MCP client'))
    .addOption(valued('--client <name>', CLIENT_NAMES.join(', ')))
    .action(async ({ client = '' }: { client?: string }) => {
      const { settings, scope } = asked()
      await mcpConfig(settings, scope, client)
    })
  configure(
    mcp.command('tools').description('Show the tools of an MCP address, with their cost in tokens'),
  ).action(async () => {
    const { settings, scope } = asked()
    await showTools(settings, scope, program.opts<Flags>().json ?? false)
  })
}

function addRow(
  group: Command,
  program: Command,
  columns: readonly string[],
  row: Row,
  outcome: Outcome,
): void {
  const command = configure(group.command(row.name).description(row.summary))
  if (row.alias) command.alias(row.alias)
  // A pipeline must not take a mistake for changes.
  if (row.exitCode)
    command.exitOverride((thrown) => {
      outcome.misused = EXIT.misused
      throw thrown
    })
  const parameters = argumentsOf(row)
  for (const { usage } of parameters) command.argument(usage)
  const flags = row.options.map((option) => ({ option, flag: flag(option) }))
  for (const { flag } of flags) command.addOption(flag)
  command.action(async () => {
    if (row.exitCode) outcome.misused = EXIT.misused
    checkServerUrl(row, program.opts<Flags>())
    const settings = readSettings(program.opts<Flags>())
    const given = flags.flatMap(({ option, flag }) => {
      const value: unknown = command.getOptionValue(flag.attributeName())
      return value === undefined ? [] : [[option, [value].flat()] as [Option, (string | true)[]]]
    })
    const written = Object.fromEntries(parameters.map(({ parameter }, i) => [parameter, command.args[i]]))
    let request = await requestOf(row, { base: settings.base, arguments: written, options: new Map(given) })
    const url = serverUrl(settings)
    const { json: asJson } = program.opts<Flags>()
    const token = tokenFor(url, settings)
    if (!asJson && !request.streams) row.forShow?.(request.query)
    const refused = advising(tokenFile(url, settings), asJson ? [] : row.options)
    const transfer = (direction: 'upload' | 'download') =>
      direction === 'upload'
        ? upload(url, token, request, written['source'] ?? '')
        : download(url, token, request, request.output)
    if (request.streams) {
      const take = (json: string) => (asJson ? showJsonLine(json) : row.showEntry?.(JSON.parse(json)))
      await follow(url, token, request, take).catch(refused)
    }
    const asked: Asked = {
      url,
      path: request.path,
      get: async (path) => (await call(url, token, get(path))).body,
    }
    const isSure = asJson || given.some(([option]) => option === yes) || request.query.has('dry_run')
    if (row.asks && !isSure && process.stdin.isTTY && process.stdout.isTTY) {
      const query = new URLSearchParams([...request.query, ['dry_run', 'true']])
      const { 'idempotency-key': _, ...headers } = request.headers
      const send = (asking: Call) => call(url, token, { ...asking, headers }).catch(refused)
      request = (await row.binds?.(request, send)) ?? request
      const plan = await send({ ...request, query })
      await row.show?.(plan, asked)
      await confirmed(row.asks)
    }
    const answer = await (row.transfer ? transfer(row.transfer) : call(url, token, request)).catch(refused)
    if (!answer) return
    if (asJson) showJson(answer)
    else if (row.show) await row.show(answer, asked)
    else show(answer, row.columns ?? columns)
    outcome.exitCode = row.exitCode?.(answer) ?? EXIT.ok
  })
}

/** A resource with a `url` of its own is written without `--url`, so that no token is sent to that address. */
function checkServerUrl({ options }: Row, { url }: Flags): void {
  const own = options.find(({ to }) => 'body' in to && to.body === 'url')
  if (own && url !== undefined)
    throw misused(
      `--url names the server, which gets the token. Pass ${own.flags} for the "url" of the resource, and PLINTH_URL for the server.`,
    )
}

/** Adds a hint about the source of a refused token that was read from a file, and names options for parameters and commands for requests. */
function advising(file: string | undefined, options: readonly Option[]): (thrown: unknown) => never {
  const flagOf = (parameter: string) => options.find(({ to }) => Object.values(to).includes(parameter))?.flags
  return (thrown) => {
    if (!(thrown instanceof Failure)) throw thrown
    if (file === undefined || thrown.body.error.code !== 'UNAUTHORIZED')
      throw inCommands(thrown, flagOf, commandOf)
    const advice = `The token in ${file} is not valid for this server: it was revoked, or PLINTH_ADMIN_TOKEN replaced it. Set PLINTH_TOKEN, or pass --token.`
    throw new Failure(thrown.body, { exitCode: thrown.exitCode, advice, cause: thrown })
  }
}

/** How the request of a message is written as a command: `plinth base list`. */
function commandOf(method: string, path: string): string | undefined {
  const shape = (of: string) => of.replace(/\{\w+\}|:\w+\??/g, ':')
  for (const { name, rows } of [...NOUNS, { name: '', rows: ROWS }]) {
    const row = rows.find((each) => each.method === method && shape(each.path) === shape(path))
    const words = row && ['plinth', name, row.name, ...argumentsOf(row).map(({ usage }) => usage)]
    if (words) return words.filter((word) => word !== '').join(' ')
  }
  return undefined
}

function flag({ flags, about, required, several, conflicts, to }: Option): Flag {
  const flag = flags.includes('<') && !several ? valued(flags, about) : new Flag(flags, about)
  if (several) flag.argParser((value: string, before?: string[]) => [...(before ?? []), value])
  if ('content' in to) flag.conflicts(['data', 'externalId', 'externalSource'])
  if (conflicts) flag.conflicts(conflicts)
  return flag.makeOptionMandatory(required ?? false)
}

/** Converts commander's errors; undefined if help was printed. */
function usageOf(
  { code, message }: CommanderError,
  program: Command,
  argv: readonly string[],
): Failure | undefined {
  if (code === 'commander.help') return undefined
  const { body, exitCode } = misused(message.replace(/^error: /, '').replaceAll('\n', ' '))
  const names = [program.name()]
  let at = program
  for (const word of argv) {
    const next = at.commands.find((each) => each.name() === word || each.aliases().includes(word))
    if (next) names.push(word)
    at = next ?? at
  }
  return new Failure(body, { exitCode, advice: `"${names.join(' ')} --help" shows what it takes.` })
}

function report(failure: Failure, asJson: boolean): void {
  if (asJson) note(`${JSON.stringify(failure.body)}\n`)
  else noteFailure(describe(failure))
}
