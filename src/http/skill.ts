/** The skill: how an agent works with Plinth (agentskills.io), at `GET /skill` and as a resource of MCP. */
import { readFile } from 'node:fs/promises'

const FILE = new URL('../../skills/plinth/SKILL.md', import.meta.url)

let text: Promise<string> | undefined

/** The Markdown of the skill, with its front matter. */
export const skillText = (): Promise<string> => {
  text ??= readFile(FILE, 'utf8')
  return text
}
