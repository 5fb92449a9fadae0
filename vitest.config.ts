import { defineConfig } from 'vitest/config'

export default defineConfig({
  // Vite would take graphql's ES modules for us and Node its CommonJS ones for Pothos: two copies that do not know each other.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    include: ['test/**/*.test.ts'],
    tags: [
      { name: 'full', description: 'Runs in `npm run test:full` only: it takes seconds, or proves by bulk.' },
      {
        name: 'frameworks',
        description: 'Needs the packages of test/frameworks, which `npm run test:long` installs.',
      },
      { name: 'sampled', description: '`npm test` runs a seventh of its cases, `npm run test:full` all.' },
    ],
    // Prints failed tests only, and one line with the counts.
    reporters: ['minimal', './test/support/summary-reporter.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/seed.ts'],
    // The files of one worker share the modules: importing them takes longer than most files run.
    isolate: false,
    // Tests wait for PostgreSQL, timers and processes: three workers keep two cores busy.
    maxWorkers: 3,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // A condition may take that long on a busy machine. A poll ends as soon as it holds.
    expect: { poll: { timeout: 10_000 } },
  },
})
