/** The frame of all pages of a base: the side bar, or the bar below on phones, the jump and the keys. */
import { useQueryClient } from '@tanstack/react-query'
import { createContext, lazy, type ReactNode, Suspense, useContext, useEffect, useState } from 'react'
import { stale } from '../api/queries.ts'
import { type Live, useLive } from '../api/stream.ts'
import { asked } from '../parts/answer.tsx'
import { Jump } from '../parts/jump.tsx'
import { TextLink } from '../parts/link.tsx'
import { Text } from '../parts/text.tsx'
import { words } from '../words.ts'
import { Guard } from './guard.tsx'
import { Keys, usePageKeys } from './keys.tsx'
import { Side } from './side.tsx'

const LiveContext = createContext<Live & { onToggle?: () => void }>({ state: 'paused' })

export function Shell({ base, path, children }: { base: string; path: string; children: ReactNode }) {
  const client = useQueryClient()
  const [isHeld, setHeld] = useState(false)
  const live = useLive(isHeld ? undefined : base)
  const onToggle = () => {
    if (isHeld) stale(client, base)
    setHeld(!isHeld)
  }
  const [panel, setPanel] = useState<'jump' | 'keys' | undefined>()
  usePageKeys(setPanel)
  return (
    <LiveContext.Provider value={{ ...live, onToggle }}>
      <a className="skip" href="#content">
        {words.skip}
      </a>
      <div className="shell">
        <Side base={base} path={path} onPanel={setPanel} />
        <div className="content" id="content" tabIndex={-1}>
          {children}
        </div>
      </div>
      <AskedUndo path={path} />
      {panel === 'jump' && <Jump base={base} onClose={() => setPanel(undefined)} />}
      {panel === 'keys' && <Keys base={base} onClose={() => setPanel(undefined)} />}
    </LiveContext.Provider>
  )
}

/** Where a page is: names, and addresses, of which the last one leads nowhere. Phones have room for two. */
export type Trail = readonly (readonly [name: string, address?: string | undefined])[]

/** The line at the top of a page: where it is, and what can be done. */
export function Bar({ trail, children }: { trail: Trail; children?: ReactNode }) {
  const { state, reason, onToggle } = useContext(LiveContext)
  return (
    <header className="row gap-4 ruled bar">
      <nav className="trail" aria-label={words.nav.trail}>
        {trail.map(([name, address], at) => (
          <span
            key={`${name} ${address}`}
            className={at < trail.length - (address ? 2 : 1) ? 'wide-only' : ''}
          >
            {address === undefined || at === trail.length - 1 ? (
              <span aria-current={at === trail.length - 1 ? 'page' : undefined}>
                <Text>{name}</Text>
              </span>
            ) : (
              <TextLink href={address} text={name} />
            )}
          </span>
        ))}
      </nav>
      <button
        type="button"
        className={`quiet small stream ${state}`}
        title={reason ?? words.liveHint}
        data-key="."
        disabled={state === 'off'}
        onClick={onToggle}
      >
        <span className="dot" aria-hidden="true" />
        {state === 'live' ? words.live : state === 'paused' ? words.paused : words.notLive}
      </button>
      {children}
    </header>
  )
}

const UndoDialog = lazy(() => import('../parts/undo/dialog.tsx'))
const end = () => asked.set(undefined)

/** The undo that was asked for. It ends with the page. */
function AskedUndo({ path }: { path: string }) {
  const undo = asked.use()
  // biome-ignore lint/correctness/useExhaustiveDependencies: another path is another page
  useEffect(() => end, [path])
  return (
    undo && (
      <Guard path={path} onClose={end}>
        <Suspense>
          <UndoDialog {...undo} onClose={end} />
        </Suspense>
      </Guard>
    )
  )
}
