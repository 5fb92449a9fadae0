import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** `npm run test:long` runs twenty times the cases of a generated test. */
const isLong = process.env['PLINTH_TEST'] === 'long'
// Workers keep compiled modules there, as servers do (bin/plinth.mjs).
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('node_modules/.cache/plinth', import.meta.url))

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    tags: [
      { name: 'full', description: 'Runs in `npm run test:full` only: it takes seconds, or proves by bulk.' },
      {
        name: 'frameworks',
        description: 'Needs the packages of test/frameworks, which `npm run test:long` installs.',
      },
      {
        name: 'sampled',
        description: '`npm test` runs a thirteenth of its cases, `npm run test:full` half.',
      },
    ],
    // Prints failed tests only, and one line with the counts.
    reporters: ['minimal', './test/support/summary-reporter.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/seed.ts'],
    // The files of one worker share the modules: importing them takes longer than most files run.
    isolate: false,
    // Tests wait for PostgreSQL, timers and processes: three workers keep two cores busy.
    maxWorkers: 3,
    // With both cores busy, threads that collect garbage beside a worker cost a fifth more CPU time.
    execArgv: ['--single-threaded-gc'],
    // Node strips the types, as in a server. Vite's own modules take a quarter more CPU time.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // They end what hangs. No test asserts by them, and a machine may be several times as slow as another.
    testTimeout: isLong ? 1_800_000 : 120_000,
    hookTimeout: isLong ? 600_000 : 180_000,
    // A condition may take that long on a busy machine. A poll ends as soon as it holds.
    expect: { poll: { timeout: 30_000 } },
  },
})
