/** Template of the server's HTML pages: no scripts, no requests to other hosts. */
import type { FastifyRequest } from 'fastify'

const STYLE = `
:root { color-scheme: light dark; --text: #1f2328; --soft: #59636e; --line: #d1d9e0; --link: #0550ae; --code: #f6f8fa }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6edf3; --soft: #9198a1; --line: #3d444d; --link: #79c0ff; --code: #161b22 } }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 60rem; padding: 2rem 1.25rem 4rem; color: var(--text);
  font: 16px/1.55 system-ui, sans-serif }
a { color: var(--link) }
h1 { margin: .5rem 0; font-size: 1.9rem } h2 { margin-top: 2rem; font-size: 1.3rem } h3 { font-size: 1.05rem }
p.lead, .soft { color: var(--soft) }
nav { color: var(--soft) }
code, pre { font: .875em/1.5 ui-monospace, monospace; background: var(--code); border-radius: 4px }
code { padding: .1em .3em; overflow-wrap: anywhere } pre { padding: .8rem 1rem; overflow-x: auto } pre code { padding: 0; overflow-wrap: normal }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); gap: 1rem; padding: 0; list-style: none }
.cards > li { border: 1px solid var(--line); border-radius: 8px; padding: 1rem }
.cards p { margin: .25rem 0 0; color: var(--soft) }
.guides { display: grid; grid-template-columns: 12rem minmax(0, 1fr); gap: 2.5rem } body:has(> .guides) { max-width: 76rem }
.guides aside { position: sticky; top: 1rem; align-self: start; max-height: 95vh; overflow-y: auto; font-size: .875rem }
.guides aside p { margin: .8rem 0 .2rem; color: var(--soft) } .guides aside a { display: block; padding: .1rem 0; text-decoration: none }
.guides aside a[aria-current] { font-weight: 600; color: var(--text) } @media (max-width: 50rem) { .guides { display: block } .guides aside { position: static; max-height: none } }
.anchor { visibility: hidden; text-decoration: none } :is(h1, h2, h3, h4):hover > .anchor, .anchor:focus { visibility: visible }
input { width: 100%; padding: .35rem .6rem; font: inherit; color: inherit; background: var(--code); border: 1px solid var(--line); border-radius: 6px }
td code { overflow-wrap: break-word }
.table { overflow-x: auto } table { border-collapse: collapse } th, td { border: 1px solid var(--line); padding: .35rem .6rem; text-align: left; vertical-align: top }
`

/** Renders a page; `body` is HTML, and `style` is what only this page has. */
export const htmlPage = (title: string, body: string, style = ''): string =>
  `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} – Plinth</title><style>${STYLE}${style}</style></head><body>
${body}
</body></html>
`

export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)

/** Whether a browser asks for a page. */
export const asksForPage = ({ headers }: FastifyRequest): boolean =>
  headers.accept?.includes('text/html') === true

export const HTML = 'text/html; charset=utf-8'
/** Content-Security-Policy of pages that only show text. */
export const TEXT_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

/** Content-Security-Policy of pages: all content and requests stay on this server. */
export const PAGE_POLICY =
  "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; worker-src 'self' blob:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
