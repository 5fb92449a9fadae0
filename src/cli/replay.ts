/** `plinth replay`: the recorded tool calls of a session, run again in a change-set, and how that ends otherwise. */
import type { Command } from 'commander'
import { omitUndefined } from '../foundation/omit-undefined.ts'
import { configure, valued } from './command/command.ts'
import { EXIT, misused } from './command/failure.ts'
import { note, showJson, showRows } from './command/print.ts'
import { type Flags, readSettings, serverUrl, tokenFor } from './command/settings.ts'
import { argumentsFor, type Repeated, readCalls, selectCalls } from './replay/calls.ts'
import { type Ended, type Server, serverAt } from './replay/server.ts'
import { compareEnds, type Difference, type Entry, readEntries, restoreStart } from './replay/states.ts'

type ReplayFlags = { [name in 'request' | 'actor' | 'since' | 'until' | 'into']?: string } & { state: string }
type Outcome = { at: string; tool: string; session: string; replay: string; message: string | null }
type Replay = {
  into: string
  state: string
  repeated: number
  left: { tool: string; reason: string; count: number }[]
  outcomes: Outcome[]
  differences: Difference[]
}

/** @param end takes the exit code, as of a diff */
export function addReplay(program: Command, end: (exitCode: number, misused: number) => void): void {
  configure(
    program
      .command('replay')
      .description('Run the tool calls of a session again in a change-set. Exit code 2: it ends otherwise'),
  )
    .addOption(valued('--request <id>', 'the calls of this request'))
    .addOption(valued('--actor <token>', 'the calls of this token: its id or its name'))
    .addOption(valued('--since <time>', 'calls from this time on, or an age such as 2h'))
    .addOption(valued('--until <time>', 'calls before this time or age'))
    .addOption(valued('--into <id>', 'the change-set, new or unused, such as crm--try (default: a new one)'))
    .addOption(
      valued('--state <when>', 'then: on what the session found; now: on what is there')
        .choices(['then', 'now'])
        .default('then'),
    )
    .exitOverride((thrown) => {
      end(EXIT.ok, EXIT.misused)
      throw thrown
    })
    .action(async ({ request, actor, since, until, into, state }: ReplayFlags) => {
      end(EXIT.ok, EXIT.misused)
      const settings = readSettings(program.opts<Flags>())
      const { base } = settings
      if (base === undefined) throw misused('The base is missing. Pass --base <id>, or set PLINTH_BASE.')
      if (request === undefined && actor === undefined)
        throw misused('Whose calls? Pass --actor <token>, with --since <time>, or --request <id>.')
      const url = serverUrl(settings)
      const server = serverAt(url, tokenFor(url, settings))
      const filter = omitUndefined({ request_id: request, token: actor, since, until })
      const replay = await replayOf(server, base, { filter, into, state })
      const isSame = replay.outcomes.length + replay.differences.length === 0
      end(isSame ? EXIT.ok : EXIT.pending, EXIT.misused)
      if (program.opts<Flags>().json)
        showJson({ text: JSON.stringify(replay), body: replay, replayed: false })
      else showReplay(replay, base)
    })
}

type Asked = { filter: Record<string, string>; into: string | undefined; state: string }

async function replayOf(server: Server, base: string, { filter, into: named, state }: Asked) {
  const calls = await readCalls(server, base, filter)
  if (calls.length === 0)
    throw misused('There are no such calls of tools. "plinth calls" lists what is kept.')
  const { repeated, left } = selectCalls(calls)
  if (repeated.length === 0)
    throw misused(
      `None of these ${calls.length} calls can be run again. ${countLeft(left).map(inWords).join('; ')}`,
    )
  const entries: Entry[] = []
  for (const id of new Set(calls.filter(({ changes }) => changes > 0).map((call) => call.request_id)))
    entries.push(...(await readEntries(server, base, { request_id: id, include: 'before' })))
  entries.sort((one, other) => one.seq - other.seq)
  const into = await openChangeSet(server, base, named)
  if (state === 'then') await restoreStart({ server, base, into }, entries)
  const start = await readEntries(server, into, {})
  const ids = new Map<string, string>()
  const outcomes: Outcome[] = []
  const callTool = server.toolsOf(into)
  for (const each of repeated) {
    const { at, tool, outcome: session } = each.call
    const ended = await callTool(tool, argumentsFor(each, ids))
    if (ended.outcome !== session)
      outcomes.push({ at, tool, session, replay: ended.outcome, message: ended.message })
    await learnIds(server, into, { each, ended, entries, ids })
  }
  const differences = await compareEnds({ server, base, into, entries, start, ids })
  return { into, state, repeated: repeated.length, left: countLeft(left), outcomes, differences }
}

/** A change-set without changes: the one that is named, or a new one. */
async function openChangeSet(server: Server, base: string, named: string | undefined): Promise<string> {
  const prefix = `${base}--`
  if (named !== undefined && !named.startsWith(prefix))
    throw misused(`"${named}" is no change-set of "${base}". Its id begins with "${prefix}".`)
  const found =
    named === undefined ? null : await server.find<{ change_set?: { revision: number } }>(['bases', named])
  if (!found) {
    const body = { copy: 'on_write', title: 'Replay', ...(named && { name: named.slice(prefix.length) }) }
    return (await server.send<{ id: string }>('POST', [base, 'preview'], body)).id
  }
  if (found.change_set?.revision !== 0)
    throw misused(`"${named}" is used already. Name a new change-set, which is then opened.`)
  return named ?? ''
}

type Learned = { each: Repeated; ended: Ended; entries: readonly Entry[]; ids: Map<string, string> }

/** Notes under which ids the replay has what the call made then: both in the order in which they were made. */
async function learnIds(
  server: Server,
  into: string,
  { each: { call }, ended, entries, ids }: Learned,
): Promise<void> {
  const made = entries.filter(
    (entry) => entry.request_id === call.request_id && entry.call?.tool === call.tool && isNew(entry),
  )
  if (ended.requestId === null || made.length === 0) return
  const now = await readEntries(server, into, { request_id: ended.requestId })
  const ofKind = Map.groupBy(now.filter(isNew), kindOf)
  for (const [kind, then] of Map.groupBy(made, kindOf))
    for (const [n, { id }] of then.entries()) {
      const other = ofKind.get(kind)?.[n]
      if (other && other.id !== id) ids.set(id, other.id)
    }
}
const isNew = ({ operation }: Entry) => operation === 'create'
const kindOf = ({ kind, record_type: type }: Entry) => `${kind} ${type}`

type Left = Replay['left'][number]
const countLeft = (left: readonly Omit<Left, 'count'>[]): Left[] =>
  [...Map.groupBy(left, ({ tool, reason }) => `${tool} ${reason}`).values()].flatMap((same) =>
    same.slice(0, 1).map((each) => ({ ...each, count: same.length })),
  )
const inWords = ({ count, tool, reason }: Left) => `${count} of ${tool}: ${reason}`

function showReplay({ into, state, repeated, left, outcomes, differences }: Replay, base: string): void {
  if (differences.length > 0) showRows(differences, ['what', 'field', 'session', 'replay'])
  note(`${repeated} calls were run again in ${into}, on the state of ${state}.\n`)
  for (const each of left) note(`Not run again: ${inWords(each)}.\n`)
  for (const { at, tool, session, replay, message } of outcomes)
    note(`${at} ${tool}: ${session} then, ${replay} now${message === null ? '' : `: ${message}`}\n`)
  const many = differences.length === 1 ? 'is 1 difference' : `are ${differences.length} differences`
  note(`There ${many} between the ends. All that it changed: plinth --base ${base} propose ${into}\n`)
}
