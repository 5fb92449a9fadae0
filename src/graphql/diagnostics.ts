/** GraphQL query of the diagnostics of the server. */
import { type Check, type Diagnosis, diagnose } from '../engine/jobs/diagnostics/diagnose.ts'
import { builder } from './builder.ts'

const CheckStatus = builder.enumType('CheckStatus', {
  values: ['ok', 'warning', 'error'] as const,
})
const CheckType = builder.objectRef<Check>('DiagnosticCheck').implement({
  fields: (t) => ({
    name: t.exposeString('name'),
    status: t.expose('status', { type: CheckStatus }),
    message: t.exposeString('message', { description: 'What was found, then what to do.' }),
  }),
})
const DiagnosticsType = builder.objectRef<Diagnosis>('Diagnostics').implement({
  description: 'What is wrong with the installation.',
  fields: (t) => ({
    status: t.expose('status', { type: CheckStatus, description: 'The worst of the checks.' }),
    checks: t.field({ type: [CheckType], resolve: ({ checks }) => [...checks] }),
  }),
})

builder.queryField('diagnostics', (t) =>
  t.field({
    type: DiagnosticsType,
    description: 'Checks the server, its database and what it keeps. Needs admin on all bases.',
    resolve: (_root, _args, { scope }) => diagnose(scope),
  }),
)
