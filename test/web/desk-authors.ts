/** Who works at the desk: agents, people and programs, each with a token. */
import type { Send } from './desk-calls.ts'
import { BASE } from './desk-schema.ts'

const ALL = { base: BASE, record_type: '*', environment: '*' }
const writes = [{ ...ALL, permission: 'write' }]

const AUTHORS = {
  'triage-agent': { kind: 'agent', grants: writes },
  'reply-agent': {
    kind: 'agent',
    grants: [{ base: BASE, endpoint: 'reply', environment: '*', permission: 'write' }],
  },
  'schema-agent': {
    kind: 'agent',
    grants: [
      { ...ALL, environment: 'preview', permission: 'manage' },
      { ...ALL, environment: 'production', permission: 'read' },
    ],
  },
  'Mara Lindqvist': { kind: 'person', grants: [{ ...ALL, permission: 'admin' }] },
  'Jonas Weber': { kind: 'person', grants: writes },
  importer: { kind: 'program', grants: writes },
  'billing-sync': { kind: 'program', grants: writes },
} as const
export type Author = keyof typeof AUTHORS

export async function makeTokens(admin: Send): Promise<Record<Author, { id: string; token: string }>> {
  const { components, paths } = await admin('GET', '/openapi.json')
  const hasKind = JSON.stringify([paths['/v1/tokens'].post, components.schemas]).includes('"person"')
  const made = new Map<string, { id: string; token: string }>()
  for (const [name, { kind, grants }] of Object.entries(AUTHORS)) {
    const { id, token } = await admin('POST', '/v1/tokens', { name, grants, ...(hasKind && { kind }) })
    made.set(name, { id, token })
  }
  return Object.fromEntries(made) as Record<Author, { id: string; token: string }>
}
