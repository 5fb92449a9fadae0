/** Which page an address shows. Pages are loaded when they are first opened. */
import { type ComponentType, lazy, Suspense, useEffect } from 'react'
import { usePathname } from 'wouter/use-browser-location'
import type { PageProps, Place } from './addresses.ts'
import { identityOf, useSession } from './api/session.ts'
import { Skeleton } from './parts/failure.tsx'
import { Toast } from './parts/toast.tsx'
import { Bases } from './shell/bases.tsx'
import { Guard } from './shell/guard.tsx'
import { NotFound } from './shell/not-found.tsx'
import { Shell } from './shell/shell.tsx'
import { SignIn } from './shell/sign-in.tsx'
import { words } from './words.ts'

type Page = { pattern: string; title: string; page: ComponentType<PageProps> }

const automation = lazy(() => import('./pages/automation/page.tsx'))
const environments = lazy(() => import('./pages/environments/page.tsx'))
const files = lazy(() => import('./pages/files/page.tsx'))
const operate = lazy(() => import('./pages/operate/page.tsx'))
const ask = lazy(() => import('./pages/ask/page.tsx'))

const PAGES: readonly Page[] = [
  { pattern: '', title: words.nav.activity, page: lazy(() => import('./pages/activity/page.tsx')) },
  {
    pattern: 'r/:request',
    title: words.nav.activity,
    page: lazy(() => import('./pages/activity/request.tsx')),
  },
  { pattern: 't/:type', title: words.nav.records, page: lazy(() => import('./pages/records/page.tsx')) },
  { pattern: 't/:type/:id', title: words.nav.records, page: lazy(() => import('./pages/record/page.tsx')) },
  { pattern: 'review', title: words.nav.review, page: lazy(() => import('./pages/review/page.tsx')) },
  { pattern: 'review/:id', title: words.nav.review, page: lazy(() => import('./pages/review/item.tsx')) },
  { pattern: 'agents', title: words.nav.agents, page: lazy(() => import('./pages/agents/page.tsx')) },
  {
    pattern: 'agents/e/:endpoint',
    title: words.nav.agents,
    page: lazy(() => import('./pages/agents/page.tsx')),
  },
  { pattern: 'automation', title: words.nav.automation, page: automation },
  { pattern: 'automation/:kind/:id', title: words.nav.automation, page: automation },
  { pattern: 'env', title: words.nav.environments, page: environments },
  { pattern: 'env/:preview', title: words.nav.environments, page: environments },
  { pattern: 'files', title: words.nav.files, page: files },
  { pattern: 'files/:type', title: words.nav.files, page: files },
  { pattern: 'operate', title: words.nav.operate, page: operate },
  { pattern: 'ask', title: words.nav.ask, page: ask },
  { pattern: 'agents/:token', title: words.nav.agents, page: lazy(() => import('./pages/agents/page.tsx')) },
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
  const found = PAGES.map((page) => ({ page, place: placeOf(page.pattern, rest) })).find(({ place }) => place)
  return (
    <Shell base={base} path={path}>
      <Guard path={path}>
        {found?.place ? (
          <Opened page={found.page} place={{ ...found.place, base }} key={base} />
        ) : (
          <NotFound />
        )}
      </Guard>
    </Shell>
  )
}

function Opened({ page: { title, page: Content }, place }: { page: Page; place: Place }) {
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
