/** REST route of the diagnostics of the server. */
import { z } from 'zod'
import { graphql } from '../graphql/document.ts'
import { route, tagged } from './route/route.ts'

const status = z.enum(['ok', 'warning', 'error'])
const Diagnostics = z
  .object({
    status: status.meta({ description: 'The worst of the checks.' }),
    checks: z.array(
      z.object({
        name: z.string(),
        status,
        message: z.string().meta({ description: 'What was found, then what to do.' }),
      }),
    ),
  })
  .meta({ id: 'Diagnostics' })

export const diagnostics = tagged('Diagnostics', [
  route('GET /diagnostics', {
    summary: 'Check the server, its database and what it keeps; needs admin on all bases',
    need: () => ({ admin: true }),
    operation: graphql(`query GetDiagnostics { diagnostics { status checks { name status message } } }`),
    answers: Diagnostics,
  }),
])
