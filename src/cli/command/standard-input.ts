import { misused } from './failure.ts'

/** What read a standard input, as the command line names it: a second reader would get nothing. */
const readers = new WeakMap<object, string>()

/**
 * Reads the standard input for an option or argument.
 * @throws Failure if another one has read it
 */
export async function readStandardInput(name: string): Promise<Buffer> {
  const reader = readers.get(process.stdin)
  if (reader)
    throw misused(`${reader} and ${name} cannot both read standard input. Pass one of them from a file.`)
  readers.set(process.stdin, name)
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
