import { defineConfig } from 'prisma/config'

// `prisma generate` asks for the schema engine, which it does not run and closed networks cannot download.
process.env['PRISMA_SCHEMA_ENGINE_BINARY'] ??= process.execPath

export default defineConfig({ schema: 'prisma', migrations: { path: 'prisma/migrations' } })
