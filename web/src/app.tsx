/** Which page an address shows. Pages are loaded when they are first opened. */
import { type ComponentType, lazy, Suspense, useEffect, useLayoutEffect } from 'react'
import { Link } from 'wouter'
import { navigate, usePathname } from 'wouter/use-browser-location'
import { type PageProps, type Place, to } from './addresses.ts'
import { useBases } from './api/queries.ts'
import { identityOf, useSession } from './api/session.ts'
import { Empty, pendingOf, Skeleton, Toast } from './parts/answer.tsx'
import { baseName } from './parts/proposal.ts'
import { Text } from './parts/text.tsx'
import { Guard, NotFound } from './shell/guard.tsx'
import { Shell } from './shell/shell.tsx'
import { SignIn } from './shell/sign-in.tsx'
import { words } from './words.ts'

type Page = { patterns: readonly string[]; title: string; page: ComponentType<PageProps> }

const { nav } = words
const page = (
  title: string,
  read: () => Promise<{ default: ComponentType<PageProps> }>,
  ...patterns: string[]
): Page => ({ patterns, title, page: lazy(read) })

const PAGES: readonly Page[] = [
  page(nav.activity, () => import('./pages/activity/page.tsx'), ''),
  page(nav.activity, () => import('./pages/activity/request.tsx'), 'r/:request'),
  page(nav.records, () => import('./pages/records/page.tsx'), 't/:type'),
  page(nav.records, () => import('./pages/record/page.tsx'), 't/:type/:id'),
  page(nav.review, () => import('./pages/review/page.tsx'), 'review'),
  page(nav.review, () => import('./pages/review/item.tsx'), 'review/:id'),
  page(nav.agents, () => import('./pages/agents/page.tsx'), 'agents', 'agents/e/:endpoint', 'agents/:token'),
  page(nav.automation, () => import('./pages/automation/page.tsx'), 'automation', 'automation/:kind/:id'),
  page(nav.environments, () => import('./pages/environments/page.tsx'), 'env', 'env/:preview'),
  page(nav.files, () => import('./pages/files/page.tsx'), 'files', 'files/:type'),
  page(nav.types, () => import('./pages/types/page.tsx'), 'types', 'types/:type'),
  page(nav.operate, () => import('./pages/operate/page.tsx'), 'operate'),
  page(nav.ask, () => import('./pages/ask/page.tsx'), 'ask'),
]

export function App() {
  const session = useSession()
  const path = usePathname()
  if (session.state === 'opening') return <Skeleton lines={3} />
  if (session.state === 'out')
    return <SignIn {...(session.message !== undefined && { message: session.message })} />
  return (
    <>
      <Placed path={path} key={identityOf(session.self)} />
      {session.state === 'ended' && <SignIn isAgain message={session.message ?? words.signIn.ended} />}
      <Toast />
    </>
  )
}

function Placed({ path }: { path: string }) {
  if (path === '/') return <Bases />
  const [, prefix, base, ...rest] = segmentsOf(path) ?? []
  if (prefix !== 'b' || !base) return <NotFound />
  const found = PAGES.flatMap((page) =>
    page.patterns.map((pattern) => ({ page, place: placeOf(pattern, rest) })),
  ).find(({ place }) => place)
  return (
    <Shell base={base} path={path}>
      <Guard path={path}>
        {found?.place ? (
          <Opened page={found.page} path={path} place={{ ...found.place, base }} key={base} />
        ) : (
          <NotFound />
        )}
      </Guard>
    </Shell>
  )
}

/** Where a person goes back to, the browser scrolls to; what is opened begins at its top. */
let isBack = false
addEventListener('popstate', () => {
  isBack = true
  setTimeout(() => {
    isBack = false
  })
})

function Opened({ page, path, place }: { page: Page; path: string; place: Place }) {
  const { title, patterns, page: Content } = page
  // Of a page with several addresses the others are of its panel, which moves nothing.
  const opened = patterns.length > 1 ? patterns[0] : path
  // biome-ignore lint/correctness/useExhaustiveDependencies: it runs when something else is opened
  useLayoutEffect(() => {
    if (!isBack) scrollTo(0, 0)
  }, [opened])
  useEffect(() => {
    document.title = `${title} – ${place.base} – Plinth`
  }, [title, place.base])
  return (
    <Suspense fallback={<Skeleton lines={8} />}>
      <Content place={place} />
    </Suspense>
  )
}

/** The parts of a path; undefined where one is not text. */
function segmentsOf(path: string): string[] | undefined {
  try {
    return path.replace(/\/$/, '').split('/').map(decodeURIComponent)
  } catch {
    return undefined
  }
}

function placeOf(pattern: string, parts: readonly string[]): Record<string, string> | undefined {
  const names = pattern === '' ? [] : pattern.split('/')
  if (names.length !== parts.length) return undefined
  const place: Record<string, string> = {}
  for (const [at, name] of names.entries()) {
    const part = parts[at] ?? ''
    if (name.startsWith(':')) place[name.slice(1)] = part
    else if (name !== part) return undefined
  }
  return place
}

/** The start: the bases that the token may use. With one, straight to it. */
function Bases() {
  const bases = useBases()
  const all = bases.data?.data ?? []
  const production = all.filter(({ production_base }) => production_base === null)
  const only = production.length === 1 && bases.data?.meta.has_more === false ? production[0] : undefined
  useEffect(() => {
    if (only) navigate(to.activity(only.id), { replace: true })
  }, [only])
  return (
    <main className="page stack gap-4 start">
      <div className="mark" aria-hidden="true" />
      <h1>{words.bases.title}</h1>
      {pendingOf(bases)}
      {bases.data && all.length === 0 && (
        <Empty title={words.bases.none}>
          <p>{words.bases.noneHint}</p>
          <p>
            <a href="/guides/mcp">{words.nav.connect}</a> · <a href="/guides/cookbook">{words.nav.guides}</a>
          </p>
        </Empty>
      )}
      <ul className="stack full tiles">
        {production.map(({ id, name, description }) => (
          <li key={id} className="stack gap-1 box">
            <Link href={to.activity(id)}>
              <Text in="strong">{name ?? id}</Text>
              <code>{id}</code>
            </Link>
            {description !== null && <Text in="p">{description}</Text>}
            {all
              .filter(({ production_base }) => production_base === id)
              .map((preview) => (
                <Link key={preview.id} href={to.activity(preview.id)} className="changed-word">
                  {baseName(preview)}
                </Link>
              ))}
          </li>
        ))}
      </ul>
    </main>
  )
}
