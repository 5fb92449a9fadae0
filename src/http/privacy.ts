/** `/privacy`: what a server keeps of who uses it. Who runs one can name a policy of their own in its place. */
import { escapeHtml, htmlPage } from './html-page.ts'

/** What who runs the server says of themselves. `signsIn`: people sign in at an identity provider of theirs. */
export type Operator = {
  privacyUrl?: string | undefined
  support?: string | undefined
  signsIn?: boolean
}

/** Where to ask for help, as an address to open. */
export const supportLink = (support: string): string =>
  support.includes('://') ? support : `mailto:${support}`

export const privacyPage = ({ support }: Operator): string =>
  htmlPage(
    'Privacy',
    `<nav><a href="/">Plinth</a></nav><h1>Privacy</h1>
<p class="lead">This server keeps what its users and their agents store in it, for those who run it. It sends nothing to the makers of Plinth.</p>
<ul>
<li><b>Records, files and their versions</b> stay until somebody deletes them, and in the history as long as the base says (<code>history_days</code>, <code>trash_days</code>).</li>
<li><b>Each change</b> has the name of the token that made it, the time, and the name of the client, tool and call that it came by.</li>
<li><b>Calls of agents</b> are recorded for <code>calls_days</code>: tool, outcome and time; their arguments only where the base says so.</li>
<li><b>Tokens</b> are stored as hashes, with a name, their rights, and when they were last used. Secrets are encrypted.</li>
<li><b>The log</b> of the server has the route, the time and the token of each request, and never its content.</li>
<li><b>Other systems</b> get what triggers, actions and external sources of a base are configured to send, and nobody else gets anything.</li>
</ul>
${support === undefined ? '' : `<p>Questions: <a href="${escapeHtml(supportLink(support))}">${escapeHtml(support)}</a></p>`}`,
  )
