/** The tool whoami: the calling token, and what is left of its rules. */
import { z } from 'zod'
import { trim } from '../../contract/response-bodies.ts'
import { staticOperation } from '../../graphql/execute.ts'
import { reading, tool } from '../tool/tool.ts'

const whoami = staticOperation(
  `query ToolWhoami { ownToken { id name kind grants created_at: createdAt expires_at: expiresAt bounds } }`,
)

export const whoamiTool = tool('whoami', {
  title: 'Show the calling token',
  description:
    'Your name, grants and expiry. bounds: what is left of your rules until when, and where you are paused.',
  permission: 'read',
  isUnlisted: true,
  input: z.strictObject({ ...reading }),
  run: async (_args, context) => trim((await whoami({}, context)).ownToken),
})
