/** The skill as a resource, and as the extension `io.modelcontextprotocol/skills` describes it. */
import { createHash } from 'node:crypto'
import { parse } from 'yaml'
import { skillText } from '../../http/skill.ts'
import type { AddressSession } from '../protocol/address-session.ts'
import { ResourceNotFound } from '../protocol/provider.ts'

const URI = 'skill://plinth/SKILL.md'
const TYPE = 'text/markdown'

type Frontmatter = { name: string; description: string }

/** Whether the address has the skill. The tools of an endpoint are its author's, and the skill is not about them. */
const hasSkill = ({ endpoint }: AddressSession): boolean => endpoint === null

/** Whether a URI is that of the skill at this address. */
export const isSkill = (session: AddressSession, uri: string): boolean => hasSkill(session) && uri === URI

/** The skill in a list of resources. */
export async function skillResources(session: AddressSession): Promise<readonly object[]> {
  if (!hasSkill(session)) return []
  const { name, description } = frontmatterOf(await skillText())
  return [{ uri: URI, name, title: 'How to work with Plinth', description, mimeType: TYPE }]
}

/** The content of the skill. */
export const readSkill = async () => ({
  contents: [{ uri: URI, mimeType: TYPE, text: await skillText() }],
})

/** The skills of an address, each with the digest that a host checks its file against. */
export async function listSkills(session: AddressSession): Promise<{ skills: readonly object[] }> {
  return { skills: hasSkill(session) ? [await entry()] : [] }
}

/** @throws ResourceNotFound */
export async function getSkill(session: AddressSession, uri: string): Promise<{ skill: object }> {
  if (!isSkill(session, uri)) throw new ResourceNotFound(uri)
  return { skill: await entry() }
}

async function entry(): Promise<object> {
  const text = await skillText()
  const digest = `sha256:${createHash('sha256').update(text).digest('hex')}`
  return {
    uri: URI,
    frontmatter: frontmatterOf(text),
    resources: [{ uri: URI, digest, size: Buffer.byteLength(text) }],
  }
}

const frontmatterOf = (text: string): Frontmatter => parse(text.split('\n---\n')[0] ?? '') as Frontmatter
