import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'

/** Worker source: posts the result of the module's `make`. */
const MAKE = `
  const { parentPort, workerData: { module, input } } = require('node:worker_threads')
  import(module).then(({ make }) => make(input)).then((made) => parentPort.postMessage(made))
`

type Bounds = { ms: number; megabytes: number }

/**
 * Runs `make` of a module in a worker thread, so that it does not block the event loop. For large modules that are needed
 * once, whose code is freed afterwards, and for libraries that do long work in one piece. With `bounds`, it is ended after
 * that time, or with that much memory; the result is then undefined.
 * @param from `import.meta.url` of the caller
 * @param path the module, relative to the caller and without its extension
 */
export function runInWorker<T>(from: string, path: string, input?: unknown): Promise<T>
export function runInWorker<T>(
  from: string,
  path: string,
  input: unknown,
  bounds: Bounds,
): Promise<T | undefined>
export function runInWorker<T>(
  from: string,
  path: string,
  input?: unknown,
  bounds?: Bounds,
): Promise<T | undefined> {
  // `.ts` next to sources, `.js` next to compiled code.
  const module = new URL(`${path}${extname(from)}`, from).href
  const worker = new Worker(MAKE, {
    eval: true,
    workerData: { module, input },
    ...(bounds && { resourceLimits: { maxOldGenerationSizeMb: bounds.megabytes } }),
  })
  return new Promise((resolve, reject) => {
    const exceed = () => {
      resolve(undefined)
      void worker.terminate()
    }
    const timer = bounds && setTimeout(exceed, bounds.ms)
    worker.once('message', (made: T) => {
      resolve(made)
      void worker.terminate()
    })
    worker.once('error', (error: NodeJS.ErrnoException) =>
      bounds && error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? exceed() : reject(error),
    )
    worker.once('exit', () => {
      clearTimeout(timer)
      reject(new Error(`${module} posted nothing`))
    })
  })
}
