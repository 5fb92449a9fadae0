import { defineConfig } from 'vitest/config'

export default defineConfig({
  // Vite would take graphql's ES modules for us and Node its CommonJS ones for Pothos: two copies that do not know each other.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    include: ['test/**/*.test.ts'],
    reporters: ['default', './test/support/summary-reporter.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/seed.ts'],
    // Tests wait for PostgreSQL more than for the processor: two workers keep two cores busy.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
