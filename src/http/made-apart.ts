import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'

/** Runs in the worker: answers with what the module's `make` makes. */
const MAKE = `
  const { parentPort, workerData } = require('node:worker_threads')
  import(workerData).then(({ make }) => make()).then((made) => parentPort.postMessage(made))
`

/**
 * What `make` of a module answers, run in a thread of its own. For modules of megabytes that are needed once: neither
 * their loading holds up the event loop, nor does their code stay in memory.
 * @param from `import.meta.url` of the caller
 * @param path the module, relative to the caller and without its extension
 */
export function madeApart<T>(from: string, path: string): Promise<T> {
  // Beside sources there are sources, beside compiled code compiled code.
  const module = new URL(`${path}${extname(from)}`, from)
  const worker = new Worker(MAKE, { eval: true, workerData: module.href })
  return new Promise<T>((resolve, reject) => {
    worker.once('message', (made: T) => {
      resolve(made)
      void worker.terminate()
    })
    worker.once('error', reject)
    worker.once('exit', () => reject(new Error(`${module.href} made nothing`)))
  })
}
