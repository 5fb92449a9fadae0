/** Search over the guides: the sections that have all words. */
import { GUIDES, headingOf, SEARCH_FORM, textOf } from './guides.ts'
import { escapeHtml, htmlPage } from './html-page.ts'

/** A section of a guide: its heading as HTML, and its words in lower case. */
type Section = { path: string; guide: string; heading: string; title: string; text: string }

const MOST_CHARS = 100
const MOST_WORDS = 8
const MOST_FOUND = 40
const SHOWN_CHARS = 160

let sections: Promise<readonly Section[]> | undefined

/** The page of what the guides have on the words. */
export async function searchPage(asked: string): Promise<string> {
  const query = asked.slice(0, MOST_CHARS)
  const words = query.toLowerCase().split(/\s+/).filter(Boolean).slice(0, MOST_WORDS)
  sections ??= readSections()
  const all = words.length === 0 ? [] : await sections
  const has = (text: string) => words.every((word) => text.toLowerCase().includes(word))
  const found = all.filter(({ title, text }) => has(`${title} ${text}`))
  const named = found.filter(({ title }) => has(title))
  const first = [...new Set([...named, ...found])].slice(0, MOST_FOUND)
  const list = first.map(
    (each) =>
      `<li><a href="${each.path}">${each.guide}${each.heading === each.guide ? '' : ` › ${each.heading}`}</a><br><span class="soft">${excerpt(each.text, words[0] ?? '')}</span></li>`,
  )
  const count = `${found.length} section${found.length === 1 ? '' : 's'}`
  return htmlPage(
    'Search',
    `<nav><a href="/">Plinth</a> › <a href="/guides">Guides</a></nav><h1>Search</h1>${SEARCH_FORM}<p>${count} with “${escapeHtml(query)}”${found.length > MOST_FOUND ? `, the first ${MOST_FOUND} of them` : ''}.</p><ul>${list.join('')}</ul>`,
  )
}

function excerpt(text: string, word: string): string {
  const at = Math.max(0, text.toLowerCase().indexOf(word) - SHOWN_CHARS / 4)
  return `${at > 0 ? '… ' : ''}${escapeHtml(text.slice(at, at + SHOWN_CHARS))} …`
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
