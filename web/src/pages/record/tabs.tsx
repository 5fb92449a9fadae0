/** The tabs of a record. */
import { words } from '../../words.ts'

export const TABS = ['fields', 'links', 'files', 'json'] as const
type Tab = (typeof TABS)[number]

type TabsProps = {
  tab: Tab
  onTab: (tab: Tab) => void
  counts: { links: number | undefined; files: number | undefined }
}

export function Tabs({ tab, onTab, counts }: TabsProps) {
  const move = (step: number) => {
    const next = TABS[(TABS.indexOf(tab) + step + TABS.length) % TABS.length]
    if (next) onTab(next)
  }
  return (
    <div
      role="tablist"
      aria-label={words.nav.records}
      className="row gap-4 ruled tabs"
      onKeyDown={({ key, currentTarget }) => {
        if (key !== 'ArrowRight' && key !== 'ArrowLeft') return
        move(key === 'ArrowRight' ? 1 : -1)
        requestAnimationFrame(() => currentTarget.querySelector<HTMLElement>('[aria-selected=true]')?.focus())
      }}
    >
      {TABS.map((each) => {
        const count = each === 'links' || each === 'files' ? counts[each] : undefined
        return (
          <button
            key={each}
            type="button"
            role="tab"
            className="bare faint"
            aria-selected={each === tab}
            tabIndex={each === tab ? 0 : -1}
            onClick={() => onTab(each)}
          >
            {words.record.tabs[each]}{' '}
            {count !== undefined && count > 0 && <span className="note">{count}</span>}
          </button>
        )
      })}
    </div>
  )
}
