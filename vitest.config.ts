import { defineConfig } from 'vitest/config'

export default defineConfig({
  // Vite would take graphql's ES modules for us and Node its CommonJS ones for Pothos: two copies that do not know each other.
  resolve: { alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }] },
  test: {
    include: ['test/**/*.test.ts'],
    reporters: ['default', './test/support/summary-reporter.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
})
