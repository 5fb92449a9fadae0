/** Serves the Markdown files of `docs/` as HTML under `/guides`. Each is rendered once. */

import { readFile } from 'node:fs/promises'
import { Marked, type Tokens } from 'marked'
import { LIMITS } from '../foundation/limits.ts'
import { escapeHtml, htmlPage } from './html-page.ts'

export type Guide = { readonly name: string; readonly title: string; readonly about: string }
export type GuideGroup = { readonly role: string; readonly guides: readonly Guide[] }

/** The guides by role of the reader. Keep in sync with `docs/README.md`. */
export const GUIDE_GROUPS: readonly GuideGroup[] = [
  {
    role: 'Answer for agents',
    guides: [
      { name: 'explorer', title: 'The explorer', about: 'See what agents did, take it back, let it pass.' },
    ],
  },
  {
    role: 'Build an agent',
    guides: [
      { name: 'mcp', title: 'MCP', about: 'Connect a client, choose its tools, OAuth.' },
      { name: 'tools', title: 'Tools', about: 'The tools, their arguments and their results.' },
      { name: 'resources', title: 'Resources and prompts', about: 'Records as resources and prompts.' },
      { name: 'endpoints', title: 'Endpoints', about: 'A fixed set of tools at its own address.' },
      {
        name: 'bounds',
        title: 'Row and field policies',
        about: 'What a tool of an endpoint can read and write.',
      },
    ],
  },
  {
    role: 'Use the API',
    guides: [
      { name: 'cookbook', title: 'Cookbook', about: 'Short recipes for what is done first.' },
      { name: 'schemas', title: 'Schemas', about: 'Defaults, formats and names of record types.' },
      { name: 'query', title: 'Queries', about: 'Filter, search, sort, page and aggregate records.' },
      { name: 'relationships', title: 'Relationships', about: 'Typed links between records.' },
      { name: 'related', title: 'Related records', about: 'Traverse links, expand them in lists.' },
      {
        name: 'client',
        title: 'TypeScript client',
        about: 'Types generated from a base, and a client that uses them.',
      },
      { name: 'graphql', title: 'GraphQL', about: 'A schema of your record types, for each base.' },
      { name: 'files', title: 'Files', about: 'Contents at paths, with versions, labels and metadata.' },
      { name: 's3', title: 'S3', about: 'Files for tools that speak S3.' },
      { name: 'attachments', title: 'Attachments', about: 'Files of a record.' },
      { name: 'batch', title: 'Batches', about: 'Many operations in one transaction.' },
      { name: 'history', title: 'History', about: 'Versions, changes, the change feed, revert and trash.' },
      { name: 'calls', title: 'Calls', about: 'What agents called, also in vain.' },
      { name: 'triggers', title: 'Triggers', about: 'Send changes to a URL.' },
      {
        name: 'inbound-webhooks',
        title: 'Inbound webhooks',
        about: 'Turn payloads of other systems into records.',
      },
      {
        name: 'external-sources',
        title: 'External sources',
        about: 'Records that another system holds.',
      },
      { name: 'vault', title: 'Vault', about: 'Secrets for requests that the server sends.' },
      { name: 'actions', title: 'Actions', about: 'Named steps in one transaction.' },
      { name: 'environments', title: 'Environments', about: 'Try changes in a preview of a base.' },
      { name: 'proposals', title: 'Let an agent propose', about: 'From a token to what a person lets pass.' },
      {
        name: 'change-sets',
        title: 'Change-sets',
        about: 'Changes of records that are looked at before they count.',
      },
      { name: 'claims', title: 'Claims', about: 'Share work between workers.' },
      { name: 'sql', title: 'SQL', about: 'SQL that reads and writes, and how it is isolated.' },
      { name: 'api-design', title: 'API conventions', about: 'Names, pages, preconditions, permissions.' },
      { name: 'errors', title: 'Errors', about: 'Every error code, and what to send instead.' },
      { name: 'glossary', title: 'Glossary', about: 'The terms of Plinth.' },
    ],
  },
  {
    role: 'Operate a server',
    guides: [
      { name: 'operations', title: 'Operations', about: 'Deploy, back up, upgrade, monitor, repair.' },
      {
        name: 'scaling',
        title: 'Beyond one machine',
        about: 'Several servers, a database of your own, failover.',
      },
      {
        name: 'moving-a-base',
        title: 'A base in one file',
        about: 'Export a base, import it elsewhere, move to a server of your own.',
      },
      { name: 'logs', title: 'Logs', about: 'The log lines and their fields.' },
      { name: 'performance', title: 'Performance', about: 'Measured rates, latencies and memory.' },
    ],
  },
  {
    role: 'Change Plinth',
    guides: [
      { name: 'architecture', title: 'Architecture', about: 'The map of the code.' },
      { name: 'publishing', title: 'Publishing', about: 'What registries and directories of MCP ask for.' },
    ],
  },
]

export const GUIDES: readonly Guide[] = GUIDE_GROUPS.flatMap(({ guides }) => guides)

const DOCS = new URL('../../docs/', import.meta.url)

/** Renders a guide as an HTML page. */
export async function guidePage({ name, title }: Guide): Promise<string> {
  const content = await markdown.parse(await textOf(name))
  return htmlPage(
    title,
    `<nav><a href="/">Plinth</a> › <a href="/guides">Guides</a></nav><div class="guides"><aside>${SEARCH_FORM}${sideOf(name)}</aside><main class="guide">${content}</main></div>`,
  )
}

/** The Markdown of a guide. */
const textOf = (name: string): Promise<string> => readFile(new URL(`${name}.md`, DOCS), 'utf8')

/** A search without scripts: the server answers it. */
export const SEARCH_FORM =
  '<form action="/guides" role="search"><input type="search" name="q" maxlength="100" placeholder="Search the guides" aria-label="Search the guides"></form>'

/** The guides, as the list at the side of one. */
const sideOf = (current: string): string =>
  GUIDE_GROUPS.map(({ role, guides }) => {
    const links = guides.map(
      ({ name, title }) =>
        `<a href="/guides/${name}"${name === current ? ' aria-current="page"' : ''}>${title}</a>`,
    )
    return `<p>${role}</p>${links.join('')}`
  }).join('')

const names = new Set(GUIDES.map(({ name }) => name))

const markdown = new Marked({
  renderer: {
    heading({ tokens, depth }: Tokens.Heading) {
      const content = this.parser.parseInline(tokens)
      const anchor = anchorOf(content)
      return `<h${depth} id="${anchor}">${content} <a class="anchor" href="#${anchor}" aria-label="Link to this section">#</a></h${depth}>\n`
    },
    link({ href, tokens }: Tokens.Link) {
      const content = this.parser.parseInline(tokens)
      const target = targetOf(href)
      return target === undefined ? content : `<a href="${target}">${content}</a>`
    },
    table(token: Tokens.Table) {
      const row = (cells: Tokens.TableCell[], tag: string) =>
        `<tr>${cells.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')}</tr>`
      return `<div class="table"><table><thead>${row(token.header, 'th')}</thead><tbody>${token.rows.map((cells) => row(cells, 'td')).join('')}</tbody></table></div>`
    },
  },
})

/** Maps a link of a Markdown file to a URL of this server; undefined for files that it does not serve. */
function targetOf(href: string): string | undefined {
  if (/^https?:/.test(href)) return encodeURI(href)
  if (href.endsWith('schema/openapi.json')) return '/openapi.json'
  const [, name = '', anchor = ''] = /^(?:\.\/)?([\w-]*)(?:\.md)?(#[\w-]+)?$/.exec(href) ?? []
  if (name === '') return anchor === '' ? undefined : anchor
  return names.has(name) ? `/guides/${name}${anchor}` : undefined
}

/** Words of Markdown as HTML, and the id of a heading of them. */
async function headingOf(text: string): Promise<{ html: string; anchor: string }> {
  const html = await markdown.parseInline(text)
  return { html: html.replace(/<[^>]*>/g, ''), anchor: anchorOf(html) }
}

/** Heading id, by GitHub's rules. */
const anchorOf = (html: string): string =>
  html
    .replace(/<[^>]*>/g, '')
    .toLowerCase()
    .replace(/&\w+;/g, '')
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')

// Search over the guides: the sections that have all words.

/** A section of a guide: its heading as HTML, and its words in lower case. */
type Section = { path: string; guide: string; heading: string; title: string; text: string }

let sections: Promise<readonly Section[]> | undefined

/** The page of what the guides have on the words. */
export async function searchPage(asked: string): Promise<string> {
  const query = asked.slice(0, LIMITS.guideSearchChars)
  const words = query.toLowerCase().split(/\s+/).filter(Boolean).slice(0, LIMITS.guideSearchWords)
  sections ??= readSections()
  const all = words.length === 0 ? [] : await sections
  const has = (text: string) => words.every((word) => text.toLowerCase().includes(word))
  const found = all.filter(({ title, text }) => has(`${title} ${text}`))
  const named = found.filter(({ title }) => has(title))
  const first = [...new Set([...named, ...found])].slice(0, LIMITS.guideSectionsFound)
  const list = first.map(
    (each) =>
      `<li><a href="${each.path}">${each.guide}${each.heading === each.guide ? '' : ` › ${each.heading}`}</a><br><span class="soft">${excerpt(each.text, words[0] ?? '')}</span></li>`,
  )
  const count = `${found.length} section${found.length === 1 ? '' : 's'}`
  return htmlPage(
    'Search',
    `<nav><a href="/">Plinth</a> › <a href="/guides">Guides</a></nav><h1>Search</h1>${SEARCH_FORM}<p>${count} with “${escapeHtml(query)}”${found.length > LIMITS.guideSectionsFound ? `, the first ${LIMITS.guideSectionsFound} of them` : ''}.</p><ul>${list.join('')}</ul>`,
  )
}

function excerpt(text: string, word: string): string {
  const at = Math.max(0, text.toLowerCase().indexOf(word) - LIMITS.guideExcerptChars / 4)
  return `${at > 0 ? '… ' : ''}${escapeHtml(text.slice(at, at + LIMITS.guideExcerptChars))} …`
}

async function readSections(): Promise<Section[]> {
  const made: Section[] = []
  for (const { name, title } of GUIDES) {
    const path = `/guides/${name}`
    let lines: string[] = []
    let open: Omit<Section, 'text'> = { path, guide: title, heading: title, title }
    const close = () => made.push({ ...open, text: lines.join(' ').replace(/\s+/g, ' ') })
    let isCode = false
    for (const line of (await textOf(name)).split('\n')) {
      if (line.startsWith('```')) isCode = !isCode
      const heading = isCode ? undefined : /^#{2,4} (.*)$/.exec(line)?.[1]
      if (heading === undefined) {
        lines.push(line)
        continue
      }
      close()
      lines = []
      const { html, anchor } = await headingOf(heading)
      open = { path: `${path}#${anchor}`, guide: title, heading: html, title: heading }
    }
    close()
  }
  return made
}
