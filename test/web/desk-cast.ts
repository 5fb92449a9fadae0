/** How the authors of the desk reach it. */
import type { Call } from '../support/caller.ts'
import type { Author } from './desk-authors.ts'
import { type Send, toolCaller, using } from './desk-calls.ts'
import { BASE, type Triggers } from './desk-schema.ts'

export type Cast = {
  admin: Send
  call(author: Author): Call
  send(author: Author): Send
  triggers: Triggers
}

export const RECORDS = `/v1/${BASE}/records`
export const REPLY_PATH = `/mcp/${BASE}/e/reply`
export const CLAUDE = { name: 'claude-agent-sdk', version: '0.4.1' }
const OPENAI = { name: 'openai-agents', version: '0.9.3' }

export const patch = (send: Send, id: string, data: object) =>
  send('PATCH', `${RECORDS}/ticket/${id}`, { data })
export const triageTool = (cast: Cast) => using(toolCaller(cast.call('triage-agent'), `/mcp/${BASE}`, OPENAI))
export const replyTool = (cast: Cast) => using(toolCaller(cast.call('reply-agent'), REPLY_PATH, CLAUDE))
