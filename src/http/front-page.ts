/** `GET /`: the explorer for browsers, an index for programs. And the guides, without a token. */
import negotiator from '@fastify/accept-negotiator'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { notFound } from './errors.ts'
import { openExplorer } from './explorer.ts'
import { GUIDE_GROUPS, GUIDES, guidePage, SEARCH_FORM, searchPage } from './guides.ts'
import { HTML, htmlPage, TEXT_POLICY } from './html-page.ts'
import { type Operator, privacyPage, supportLink } from './privacy.ts'
import { addVary, SharedDocument } from './shared-document.ts'
import { skillText } from './skill.ts'

type Hook = (request: FastifyRequest) => Promise<void>

/** The guides have a form for their search. */
const GUIDE_POLICY = TEXT_POLICY.replace("form-action 'none'", "form-action 'self'")

/** The surfaces of the server, in page order. */
const SURFACES = [
  {
    name: 'graphql',
    path: '/graphql',
    title: 'GraphQL playground',
    about: 'Explore your data. Sign in with a token.',
  },
  {
    name: 'api_reference',
    path: '/docs/',
    title: 'API reference',
    about: 'Every route of REST /v1, with its shapes.',
  },
  { name: 'guides', path: '/guides', title: 'Guides', about: 'Agents, API, operations.' },
  {
    name: 'skill',
    path: '/skill',
    title: 'Skill',
    about: 'How agents work with Plinth, to install in them.',
  },
  {
    name: 'openapi',
    path: '/openapi.json',
    title: 'OpenAPI',
    about: 'The description of REST for code generators.',
  },
  { name: 'health', path: '/readyz', title: 'Health', about: '/healthz, /readyz and /metrics.' },
] as const

/** Serves `/`, `/guides`, `/skill` and `/privacy`, without a token. Where the explorer is not built, a page with the surfaces is in its place. */
export function frontPage(visit: Hook, operator: Operator = {}, folders?: readonly URL[]) {
  return async (app: FastifyInstance): Promise<void> => {
    const explorer = openExplorer(folders)
    const page = new SharedDocument(() => ({ type: HTML, body: FRONT }))
    const index = new SharedDocument(() => ({
      type: 'application/json; charset=utf-8',
      body: indexOf(operator),
    }))
    const contents = new SharedDocument(() => ({ type: HTML, body: CONTENTS }))
    const guides = new Map(
      GUIDES.map((guide) => [
        guide.name,
        new SharedDocument(async () => ({ type: HTML, body: await guidePage(guide) })),
      ]),
    )

    const skill = new SharedDocument(async () => ({
      type: 'text/markdown; charset=utf-8',
      body: await skillText(),
    }))

    explorer?.routes(app, visit)
    const privacy = new SharedDocument(() => ({ type: HTML, body: privacyPage(operator) }))
    app.get('/privacy', { onRequest: visit }, (request, reply) =>
      operator.privacyUrl === undefined
        ? privacy.send(request, reply.header('content-security-policy', TEXT_POLICY))
        : reply.redirect(operator.privacyUrl),
    )
    app.get('/skill', { onRequest: visit }, (request, reply) => skill.send(request, reply))
    app.get('/', { onRequest: visit }, (request, reply) => {
      addVary(reply, 'Accept')
      const accept = request.headers.accept ?? 'application/json'
      if (negotiator.negotiate(accept, ['application/json', 'text/html']) !== 'text/html')
        return index.send(request, reply)
      if (explorer) return explorer.send(request, reply)
      return page.send(request, reply.header('content-security-policy', TEXT_POLICY))
    })
    app.get<{ Querystring: { q?: unknown } }>('/guides', { onRequest: visit }, async (request, reply) => {
      const { q } = request.query
      reply.header('content-security-policy', GUIDE_POLICY)
      if (typeof q !== 'string') return contents.send(request, reply)
      return reply.type(HTML).send(await searchPage(q))
    })
    app.get<{ Params: { name: string } }>('/guides/:name', { onRequest: visit }, (request, reply) => {
      const guide = guides.get(request.params.name)
      if (!guide) throw notFound(request)
      return guide.send(request, reply.header('content-security-policy', GUIDE_POLICY))
    })
  }
}

const indexOf = ({ support, signsIn }: Operator): string =>
  JSON.stringify(
    {
      name: 'plinth',
      description: 'A data layer for software agents: bases of typed JSON records.',
      rest: '/v1',
      mcp: '/mcp',
      ...Object.fromEntries(SURFACES.map(({ name, path }) => [name, path])),
      privacy: '/privacy',
      ...(support !== undefined && { support: supportLink(support) }),
      ...(signsIn && { sign_in: '/sign-in' }),
    },
    null,
    2,
  )

const FRONT = htmlPage(
  'Server',
  `<h1>Plinth</h1>
<p class="lead">A data layer for software agents runs here. Its explorer, the page that shows what agents did, is not built in this
checkout: <code>npm install && npm run web</code>, then start the server again.</p>
<ul class="cards">${SURFACES.map(
    ({ path, title, about }) => `<li><a href="${path}">${title}</a><p>${about}</p></li>`,
  ).join('')}</ul>`,
)

const CONTENTS = htmlPage(
  'Guides',
  `<nav><a href="/">Plinth</a></nav><h1>Guides</h1>${SEARCH_FORM}${GUIDE_GROUPS.map(
    ({ role, guides }) =>
      `<h2>${role}</h2><ul>${guides
        .map(
          ({ name, title, about }) =>
            `<li><a href="/guides/${name}">${title}</a> <span class="soft">${about}</span></li>`,
        )
        .join('')}</ul>`,
  ).join('')}`,
)
