/**
 * Calls that go on as tasks (the extension `io.modelcontextprotocol/tasks`): one that takes longer than a second is
 * answered with a task, whose end any server of the database tells.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { CLIENT_CAPABILITIES_META_KEY } from '@modelcontextprotocol/server'
import { Cancellation } from '../../../foundation/cancellation.ts'
import { LIMITS } from '../../../foundation/limits.ts'
import type { Tasks as KeptTasks, Task } from '../../../graphql/context.ts'
import { noTasks, takesTasks } from '../client-extensions.ts'
import { toContent, toProtocolFailure } from '../content.ts'
import { type Caller, InvalidParams, type Provider, type Wire } from '../provider.ts'
import { inRounds, type Serving } from './call.ts'
import {
  type Call,
  changeOf,
  handleOf,
  nameOf,
  openKept,
  openOf,
  type Response,
  sealKept,
} from './kept-task.ts'

export type Tasks = ReturnType<typeof openTasks>

/** A call that may become a task: how it ends early, and what it last said of its progress. */
function workOf(ended: Cancellation) {
  const withdrawn = new Cancellation()
  let said: string | null = null
  return {
    withdrawn,
    said: () => said,
    withdraw: () => {
      ended.cancel()
      withdrawn.cancel()
    },
    /** The request handle of the call, which listens to its progress. */
    heard: (caller: Caller): Caller => ({
      ...caller,
      withdrawn,
      progress: (done, total, message) => {
        said = message ?? (total === undefined ? `${done}` : `${done} of ${total}`)
        caller.progress(done, total, message)
      },
    }),
  }
}
type Work = ReturnType<typeof workOf>

/** A call that has become a task. */
type Following = {
  readonly task: Task
  readonly tasks: KeptTasks
  readonly call: Call
  readonly round: number
  readonly work: Work
  readonly answer: Promise<Response>
}

export function openTasks({ tools, tasks: tasksOf }: Provider) {
  const running = new Set<Promise<void>>()

  const run = ({ name, arguments: args = {} }: Call, sent: object, serving: Serving, work?: Work) =>
    inRounds(['tools/call', name, args], sent, serving, async (caller) => {
      const heard = work ? work.heard(caller) : caller
      return toContent(
        await tools.call(serving.exchange.session, name, args, heard),
        serving.onInternal,
      ) as object
    })

  /** Follows the call of a task until it has ended or asks. */
  async function follow({ task, tasks, answer, work, ...of }: Following, { exchange, onInternal }: Serving) {
    const over = answer.then(() => true)
    while (!(await Promise.race([over, sleep(LIMITS.taskBeatMs, false, { ref: false })])))
      // A database that is away for a moment has the beat after it.
      if (await tasks.beat(task, work.said()).catch(() => false)) work.withdraw()
    const ending = { ...of, id: task.id, session: exchange.session, isWithdrawn: work.withdrawn.isCancelled }
    const change = changeOf(await answer, ending)
    await insist(() => tasks.change(task, change), onInternal)
  }
  const keep = (following: Following, serving: Serving): void => {
    const kept = follow(following, serving).finally(() => running.delete(kept))
    running.add(kept)
  }

  const requireTask = async (id: string, { exchange: { session }, envelope }: Serving) => {
    if (!takesTasks(envelope[CLIENT_CAPABILITIES_META_KEY])) throw noTasks()
    const tasks = tasksOf?.(session)
    const task = UUID.test(id) ? await tasks?.find(id) : undefined
    const kept = task && openKept(session, task)
    if (!tasks || !kept) throw unknownTask()
    return { task, kept, tasks }
  }

  const update = async (
    params: { taskId: string; inputResponses: Wire },
    serving: Serving,
  ): Promise<object> => {
    const { taskId, inputResponses } = params
    const { task, kept, tasks } = await requireTask(taskId, serving)
    const { asked } = kept
    if (task.status !== 'input_required' || !asked) return {}
    const { session } = serving.exchange
    const open = Object.keys(openOf(asked))
    const given = Object.entries(inputResponses).filter(([key]) => open.includes(key))
    const answers = { ...asked.answers, ...Object.fromEntries(given) }
    if (given.length < open.length) {
      const sealed = sealKept(session, task.id, { asked: { ...asked, answers } })
      const told = { status: 'input_required', message: task.message, sealed } as const
      // Another answer came in between: this one is added to it.
      return (await tasks.change(task, told)) ? {} : update(params, serving)
    }
    const begun = await tasks.change(task, { status: 'working' })
    // Another answer came first.
    if (!begun) return {}
    const { call, round, requestState } = asked
    const again = new Cancellation()
    const work = workOf(again)
    const named = Object.entries(answers).map(([key, answer]) => [nameOf(key), answer])
    const sent = { requestState, inputResponses: Object.fromEntries(named) }
    const answer = responseTo(run(call, sent, { ...serving, ended: again }, work), serving)
    keep({ task: begun, tasks, call, round: round + 1, work, answer }, serving)
    return {}
  }

  return {
    /** Calls a tool. The result is that of the tool, or a task. */
    async call(params: Call & object, serving: Serving): Promise<object> {
      const { exchange, envelope, id, ended } = serving
      const { name, arguments: args } = params
      const tasks = takesTasks(envelope[CLIENT_CAPABILITIES_META_KEY])
        ? tasksOf?.(exchange.session)
        : undefined
      if (!tasks) return run(params, params, serving)
      const work = workOf(ended)
      const done = run(params, params, serving, work)
      const first = await Promise.race([done, sleep(LIMITS.taskAfterMs, undefined, { ref: false })])
      if (first) return first
      const task = await tasks.open().catch((cause) => void serving.onInternal(cause))
      // Who has too many tasks waits for the result.
      if (!task) return done
      const answer = responseTo(done, serving)
      exchange.goesOn(id, answer)
      keep({ task, tasks, call: { name, arguments: args }, round: 1, work, answer }, serving)
      return { resultType: 'task', ...handleOf(task) }
    },
    async get(id: string, serving: Serving): Promise<object> {
      const { task, kept } = await requireTask(id, serving)
      const { result, error, asked } = kept
      return {
        ...handleOf(task),
        ...(task.status === 'completed' && { result }),
        ...(task.status === 'failed' && { error: error ?? { code: -32603, message: task.message } }),
        ...(task.status === 'input_required' && { inputRequests: openOf(asked) }),
      }
    },
    update,
    async cancel(id: string, serving: Serving): Promise<object> {
      const { task, tasks } = await requireTask(id, serving)
      await tasks.withdraw(task.id)
      return {}
    },
    /** Resolves when no task runs here. */
    settled: async (): Promise<void> => void (await Promise.all(running)),
  }
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const unknownTask = () =>
  new InvalidParams(
    'Unknown task. A task is of the token and the address that made the call, and is kept for an hour after its end.',
  )

/** The JSON-RPC response that a call ends with. */
const responseTo = (done: Promise<object>, { exchange, onInternal }: Serving): Promise<Response> =>
  done.then(
    (result) => ({ result }),
    (thrown) => ({
      error: toProtocolFailure(thrown, exchange.session.context.scope.requestId, onInternal),
    }),
  )

/** Repeats a write of the end of a task while its server still counts as running it. */
async function insist(write: () => Promise<unknown>, onInternal: (cause: unknown) => void) {
  const until = Date.now() + LIMITS.taskLostMs
  for (;;)
    try {
      return await write()
    } catch (cause) {
      if (Date.now() > until) return onInternal(cause)
      await sleep(LIMITS.taskBeatMs)
    }
}
