/** Commands of API tokens. */
import type { Answer } from '../command/client.ts'
import type { Noun } from '../command/command.ts'
import { misused } from '../command/failure.ts'
import { commandOf } from '../command/operations.ts'
import { type Option, orJson } from '../command/options.ts'
import { note, showOne } from '../command/print.ts'

const grant: Option = {
  flags: '--grant <grant>',
  about:
    'base=crm,record_type=*,environment=production,permission=write; endpoint=frontline in place of record_type reaches that endpoint only; writes=propose proposes; a|b is a list; or JSON, which rules need; repeat the flag for more grants',
  to: { body: 'grants' },
  read: orJson(readGrant),
  required: true,
  several: true,
}

/**
 * Parses `key=value,key=value`. A repeated key, or `|` in a value, makes a list. The server validates the
 * keys.
 */
function readGrant(written: string): Record<string, string | string[]> {
  const lists = new Map<string, string[]>()
  for (const part of written.split(',')) {
    const [, key, value] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(part) ?? []
    if (!key || !value) throw misused(`--grant: "${part}" is not key=value, such as base=crm.`)
    lists.set(key, [...(lists.get(key) ?? []), ...value.split('|')])
  }
  return Object.fromEntries(
    [...lists].map(([key, [first = '', ...more]]) => [key, more.length > 0 ? [first, ...more] : first]),
  )
}

/** Prints only the raw token on standard output, for scripts; the rest goes to standard error. */
function showCreated({ body, replayed }: Answer): void {
  const { token, ...rest } = body as { token?: unknown }
  if (typeof token !== 'string') showOne(body)
  else if (replayed)
    note('This repeats the response to the first request, without the token: it was shown only then.\n')
  else {
    showOne(rest, process.stderr)
    note('The token is shown only once:\n')
    process.stdout.write(`${token}\n`)
  }
}

export const token: Noun = {
  name: 'token',
  summary: 'Tokens: API keys and their permissions',
  columns: [
    'id',
    'name',
    'kind',
    'masked',
    'used_by_server',
    'created_at',
    'expires_at',
    'last_used_at',
    'grants',
  ],
  rows: [
    commandOf('tokens.list', 'list'),
    commandOf('tokens.get', 'get'),
    commandOf('tokens.self', 'self', { summary: 'Show the token in use, with its grants' }),
    commandOf('tokens.create', 'create', {
      summary: 'Create a token; its value is shown once',
      says: {
        name: 'what the token is for',
        kind: '<kind> who uses it: person, agent or program (default)',
        grants: grant,
        expires_at: '<time> when it expires, such as 2030-01-31T00:00:00Z',
      },
      show: showCreated,
    }),
    commandOf('tokens.rotateAdmin', 'rotate-admin', {
      summary: 'Replace the admin token of the server, also in its data directory; its value is shown once',
      show: showCreated,
    }),
    commandOf('tokens.pause', 'pause'),
    commandOf('tokens.resume', 'resume'),
    commandOf('tokens.delete', 'revoke', { alias: 'delete' }),
  ],
}

/** Command `plinth whoami`. */
export const whoami = commandOf('tokens.self', 'whoami', {
  summary: 'Show the token in use, with its grants',
})
