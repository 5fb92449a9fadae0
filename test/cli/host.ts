/**
 * Runs command lines one after the other in one process, which saves a start of Node for each. A message brings
 * the arguments, the environment, standard input, and the columns of a terminal; the answer is the exit code and both outputs.
 */
import { Readable, Writable } from 'node:stream'
import { WriteStream } from 'node:tty'
import { main } from '../../src/cli/main.ts'
import type { Run } from './plinth.ts'

export type Errand = { args: readonly string[]; env: Record<string, string>; input: string; columns?: number }

process.on('message', async ({ args, env, input, columns }: Errand) => {
  const out: Buffer[] = []
  const err: Buffer[] = []
  process.env = env
  replace('stdin', Readable.from(input === '' ? [] : [Buffer.from(input)]))
  const terminal = columns === undefined ? {} : { isTTY: true, columns, getColorDepth }
  replace('stdout', Object.assign(collector(out), terminal))
  replace('stderr', Object.assign(collector(err), terminal))
  const code = await main(args)
  const run: Run = { code, out: Buffer.concat(out).toString(), err: Buffer.concat(err).toString() }
  process.send?.(run)
})
process.on('disconnect', () => process.exit())

const { getColorDepth } = WriteStream.prototype
const replace = (name: 'stdin' | 'stdout' | 'stderr', stream: Readable | Writable): void =>
  void Object.defineProperty(process, name, { configurable: true, value: stream })

const collector = (chunks: Buffer[]): Writable =>
  new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      chunks.push(chunk)
      done()
    },
  })
