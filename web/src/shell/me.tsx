/** Who is signed in, and what stands in no page: the theme, the keys, the guides; on phones also the pages that the bar has no room for. */
import { navigate } from 'wouter/use-browser-location'
import { to } from '../addresses.ts'
import { signOut, useSession } from '../api/session.ts'
import { useNarrow } from '../api/store.ts'
import { useMay } from '../parts/grants.ts'
import { itemsOf, Menu } from '../parts/menu.tsx'
import { FIRST, usePlaces } from '../parts/places.ts'
import { Who } from '../parts/who.tsx'
import { words } from '../words.ts'

export function Me({ base, onPanel }: { base: string; onPanel: (panel: 'jump' | 'keys') => void }) {
  const session = useSession()
  const isNarrow = useNarrow()
  const isAdmin = useMay('*', '*', 'admin')
  const places = usePlaces(base)
  if (!('self' in session)) return null
  const theme = document.documentElement.dataset['theme'] ?? 'system'
  const { themes, theme: note } = words.nav
  return (
    <div className="over side-me">
      <Menu
        className="side-item"
        {...(isNarrow && { icon: 'more' })}
        label={
          isNarrow ? words.nav.more : <Who name={session.self.name} kind={session.self.kind ?? 'person'} />
        }
        items={[
          ...(isNarrow ? places.slice(FIRST) : []).map(({ name, address }) => ({
            label: name,
            onSelect: () => navigate(address),
          })),
          ...(isNarrow && isAdmin
            ? [{ label: words.nav.operate, onSelect: () => navigate(to.operate(base)) }]
            : []),
          { label: words.nav.graphql, onSelect: () => location.assign(to.playground(base)) },
          { label: words.nav.allBases, onSelect: () => navigate(to.home()) },
          { label: words.nav.guides, onSelect: () => location.assign('/guides') },
          { label: words.nav.reference, onSelect: () => location.assign('/docs/') },
          { label: words.nav.keys, note: '?', onSelect: () => onPanel('keys') },
          ...itemsOf(
            Object.entries(themes).map(([name, label]) => [name, label, note]),
            setTheme,
            { is: theme },
          ),
          { label: words.nav.signOut, onSelect: () => void signOut() },
        ]}
      />
    </div>
  )
}

const THEME = 'plinth.theme'
function setTheme(name: string): void {
  if (name === 'system') {
    localStorage.removeItem(THEME)
    delete document.documentElement.dataset['theme']
  } else {
    localStorage.setItem(THEME, name)
    document.documentElement.dataset['theme'] = name
  }
}
setTheme(localStorage.getItem(THEME) ?? 'system')
