import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'

/** Worker source: posts the result of the module's `make`. */
const MAKE = `
  const { parentPort, workerData } = require('node:worker_threads')
  import(workerData).then(({ make }) => make()).then((made) => parentPort.postMessage(made))
`

/**
 * Runs `make` of a module in a worker thread. For large modules that are needed once: loading them does not
 * block the event loop, and their code is freed afterwards.
 * @param from `import.meta.url` of the caller
 * @param path the module, relative to the caller and without its extension
 */
export function renderInWorker<T>(from: string, path: string): Promise<T> {
  // `.ts` next to sources, `.js` next to compiled code.
  const module = new URL(`${path}${extname(from)}`, from)
  const worker = new Worker(MAKE, { eval: true, workerData: module.href })
  return new Promise<T>((resolve, reject) => {
    worker.once('message', (made: T) => {
      resolve(made)
      void worker.terminate()
    })
    worker.once('error', reject)
    worker.once('exit', () => reject(new Error(`${module.href} exports nothing`)))
  })
}
