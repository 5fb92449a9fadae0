/** The pages of the authorization server: forms without scripts. What a client says of itself is text, and is said to be the client's. */
import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import { escapeHtml, htmlPage } from '../../http/html-page.ts'
import { ALL, type Choices } from './choices.ts'
import type { Client } from './clients.ts'
import { END_HOURS } from './decision.ts'
import { sourceOf } from './redirects.ts'

const STYLE = `
.ask { max-width: 30rem; margin: 3vh auto } .ask h1 { font-size: 1.45rem; overflow-wrap: anywhere }
.ask dl { margin: 1rem 0; padding: .8rem 1rem; border: 1px solid var(--line); border-radius: 8px }
.ask dt { color: var(--soft); font-size: .875rem } .ask dd { margin: 0 0 .5rem; overflow-wrap: anywhere } .ask dd:last-child { margin: 0 }
.ask fieldset { border: 0; margin: 1.2rem 0; padding: 0 } .ask legend, .ask label.head { display: block; padding: 0; margin: 0 0 .3rem; font-weight: 600 }
.ask label.one { display: flex; gap: .55rem; align-items: baseline; padding: .15rem 0; overflow-wrap: anywhere }
.ask label.one input { width: auto; flex: none } .ask select { width: 100%; padding: .4rem .6rem; font: inherit; color: inherit; background: var(--code); border: 1px solid var(--line); border-radius: 6px }
.ask .types { margin: .2rem 0 .2rem 1.6rem; max-height: 14rem; overflow-y: auto } .ask form:not(:has([value="types"]:checked)) .types { display: none }
.ask .acts { display: flex; flex-wrap: wrap; gap: .6rem; margin-top: 1.4rem }
.ask button { flex: 1 1 9rem; padding: .55rem 1rem; font: inherit; color: inherit; background: var(--code); border: 1px solid var(--line); border-radius: 6px; cursor: pointer }
.ask a.main { display: block; padding: .55rem 1rem; text-align: center; text-decoration: none; border-radius: 6px } .ask :is(a, button).main { color: #fff; background: #0550ae; border-color: #0550ae } .ask button.link { flex: none; border: 0; background: none; padding: 0; color: var(--link); text-decoration: underline }
.ask :is(input, select, button):focus-visible { outline: 2px solid var(--link); outline-offset: 2px }
.ask .wrong { color: #b42318; border-left: 3px solid; padding-left: .7rem } @media (prefers-color-scheme: dark) { .ask .wrong { color: #ff9b90 } }
`
const html = (title: string, body: string) => htmlPage(title, `<main class="ask">${body}</main>`, STYLE)
const styleHash = createHash('sha256')
  .update(/<style>(.*)<\/style>/s.exec(html('', ''))?.[1] ?? '')
  .digest('base64')

/** Sends a page: no scripts, in no frame, and its form goes to this server and on to the address of the client only. */
export const sendPage = (
  reply: FastifyReply,
  page: string,
  redirectUri?: string,
  status = 200,
): FastifyReply =>
  reply
    .code(status)
    .headers({
      'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'${redirectUri === undefined ? '' : ` ${sourceOf(redirectUri)}`}`,
      'x-frame-options': 'DENY',
      'cache-control': 'no-store',
      // Browsers name the origin of a form to this server only if they may send a referrer.
      'referrer-policy': 'same-origin',
    })
    .type('text/html; charset=utf-8')
    .send(page)

/** Who asks, and where the answer goes. */
export type Asking = { client: Client; redirectUri: string }

const about = (
  { client, redirectUri }: Asking,
  more: readonly (readonly [string, string])[] = [],
): string => {
  const url = new URL(redirectUri)
  const isApp = url.origin === 'null'
  const where = isApp ? `the app that opens ${url.protocol}` : url.host
  const rows = [
    ['Known by', client.host ?? 'nothing: it registered itself, under a name of its choice'],
    [
      'The answer goes to',
      url.protocol === 'http:' ? `${where}, a program on the computer that you use now` : where,
    ],
    ...more,
  ]
  return `<dl>${rows.map(([term = '', text = '']) => `<dt>${escapeHtml(term)}</dt><dd>${escapeHtml(text)}</dd>`).join('')}</dl>`
}

const message = (text: string | undefined) =>
  text === undefined ? '' : `<p class="wrong" role="alert">${escapeHtml(text)}</p>`
const hidden = (name: string, value: string) =>
  `<input type="hidden" name="${name}" value="${escapeHtml(value)}">`
const heading = ({ client }: Asking) => `<h1>“${escapeHtml(client.name)}” wants to use this Plinth</h1>`
const CANCEL = '<button name="decision" value="deny" formnovalidate>Cancel</button>'

/** The page that no client has an answer of. */
export const faultPage = (text: string): string =>
  html(
    'Not connected',
    `<h1>This client cannot be connected</h1>${message(text)}<p class="soft">Nothing was allowed. Close this page, and start again.</p>`,
  )

/** The page of a request that is refused. The person decides whether the client hears of it, at `back`. */
export const refusedPage = (asking: Asking, text: string, back: string): string =>
  html(
    'Not connected',
    `<h1>This client cannot be connected</h1>${message(text)}${about(asking)}<p class="soft">Nothing was allowed. Close this page, or go back if you know this address.</p><p><a href="${escapeHtml(back)}">Back to the client</a></p>`,
  )

/** `back` is the page where the sign-in began, which offers every way to sign in. */
export const notSignedInPage = (text: string, back: string): string =>
  html(
    'Not signed in',
    `<h1>You are not signed in</h1>${message(text)}<p><a class="main" href="${escapeHtml(back)}">Back to the sign-in</a></p>`,
  )

/** The identity provider, and the address that leads there. */
export type SignInAt = { host: string; href: string } | undefined

export const signInPage = (asking: Asking, provider: SignInAt, wrong?: string): string =>
  html(
    'Sign in',
    `${heading(asking)}${about(asking)}
${provider ? `<p><a class="main" href="${escapeHtml(provider.href)}">Sign in with ${escapeHtml(provider.host)}</a></p><p class="soft">Or with a token:</p>` : ''}<form method="post" autocomplete="off">${message(wrong)}
<label class="head" for="token">Your token</label>
<input id="token" name="token" type="password" autocomplete="off" required maxlength="512" placeholder="plt_…" aria-describedby="hint">
<p class="soft" id="hint">Or the code of <code>npx plinth open --print</code>. The client does not get it: next, you choose what the client may do.</p>
<div class="acts"><button class="main" name="decision" value="sign-in">Sign in</button>${CANCEL}</div></form>`,
  )

const MAY: Readonly<Record<string, string>> = {
  read: 'Read',
  propose: 'Read, and propose changes that a person decides',
  write: 'Read and write records and files',
  manage: 'Also change types and other configuration',
  admin: 'Everything, tokens too',
}
const DEFAULT_HOURS = 720

const options = (list: readonly (readonly [string | number, string])[], selected?: string | number): string =>
  list
    .map(
      ([value, text]) =>
        `<option value="${escapeHtml(String(value))}"${value === selected ? ' selected' : ''}>${escapeHtml(text)}</option>`,
    )
    .join('')

const labelled = ({ id, name }: { id: string; name: string }) => (name === id ? id : `${name} (${id})`)

type SignedIn = { asking: Asking; person: string; session: string; wrong?: string | undefined }

export const basePage = (
  { asking, person, session }: SignedIn,
  bases: readonly { id: string; name: string }[],
): string =>
  html(
    'Choose a base',
    `${heading(asking)}${about(asking, [['You are', person]])}
<form method="post">${hidden('session', session)}
<label class="head" for="base">Which base may it use?</label>
<select id="base" name="base">${options([...bases.map((each) => [each.id, labelled(each)] as const), [ALL, 'All that I may use']])}</select>
<div class="acts"><button class="main" name="decision" value="choose">Continue</button>${CANCEL}</div></form>`,
  )

const radio = (value: string, text: string, isChosen: boolean) =>
  `<label class="one"><input type="radio" name="reach" value="${escapeHtml(value)}" required${isChosen ? ' checked' : ''}> ${escapeHtml(text)}</label>`

/** @param endsAt when the person's own access ends */
export const consentPage = (
  { asking, person, session, wrong }: SignedIn,
  { base, types, endpoints, hasTypes, permissions }: Choices,
  { endsAt, hasOtherBases }: { endsAt: Date | null; hasOtherBases: boolean },
): string => {
  const whole =
    base === ALL ? 'Everything in all bases that you may use' : 'Everything that you may use there'
  const reaches = [
    ...(hasTypes ? [radio('all', whole, true)] : []),
    types.length > 0
      ? `${radio('types', 'Only records of these types:', false)}<div class="types">${types.map((each) => `<label class="one"><input type="checkbox" name="type:${escapeHtml(each.id)}"> ${escapeHtml(labelled(each))}</label>`).join('')}</div>`
      : '',
    ...endpoints.map((each, n) =>
      radio(`endpoint:${each.id}`, `Only the endpoint ${labelled(each)}`, !hasTypes && n === 0),
    ),
  ]
  const may = permissions.flatMap((each) => (each === 'write' ? ['propose', 'write'] : [each]))
  const hours = END_HOURS.filter(
    ([each]) => endsAt === null || Date.now() + each * 3_600_000 < endsAt.getTime(),
  )
  const own = `With your own access, ${endsAt?.toISOString().slice(0, 16).replace('T', ' ')} UTC`
  const last =
    endsAt === null ? (['never', 'Never, until somebody revokes it'] as const) : (['own', own] as const)
  const isDefault = hours.some(([each]) => each === DEFAULT_HOURS)
  return html(
    'Allow a client',
    `${heading(asking)}${about(asking, [
      ['You are', person],
      ['Base', base === ALL ? 'all' : base],
    ])}
<form method="post">${hidden('session', session)}${hidden('base', base)}${message(wrong)}
<fieldset><legend>What may it reach?</legend>${reaches.join('')}</fieldset>
<fieldset><label class="head" for="permission">What may it do there?</label><select id="permission" name="permission">${options(may.map((each) => [each, MAY[each] ?? each]))}</select></fieldset>
<fieldset><label class="head" for="end">When does its access end?</label><select id="end" name="end">${options([...hours, last], isDefault ? DEFAULT_HOURS : 'own')}</select></fieldset>
<p class="soft">It never gets more than you have. You can revoke it any time: it is in the list of tokens, under its name.</p>
<div class="acts"><button class="main" name="decision" value="allow">Allow</button>${CANCEL}${hasOtherBases ? '<button class="link" name="decision" value="other" formnovalidate>Choose another base</button>' : ''}</div></form>`,
  )
}
