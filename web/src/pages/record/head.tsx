/** Below the title: states, where it comes from, who changed it last, who works on it now, and the tabs. */
import { to } from '../../addresses.ts'
import { pathOf, useSession, useType, useWrite } from '../../api/queries.ts'
import type { Change, Claim, RecordType, Row } from '../../api/shapes.ts'
import { Failure } from '../../parts/answer.tsx'
import { Button } from '../../parts/button.tsx'
import { useMay } from '../../parts/grants.ts'
import { TextLink } from '../../parts/link.tsx'
import { fieldsOf, titleOf, valueAt } from '../../parts/record-types.ts'
import { Chip, fieldName, span, Text, Time, toneOf, useNow } from '../../parts/text.tsx'
import { Shape } from '../../parts/who.tsx'
import { words } from '../../words.ts'
import type { Place, Related, Shown } from './load.ts'

const STATES = 2

type Props = {
  place: Place
  row: Shown | Row
  type: RecordType | undefined
  changes: readonly Change[]
  related: readonly Related[]
}

export function Head({ place, row, type, changes, related }: Props) {
  const states = type ? fieldsOf(type).filter(({ isState }) => isState) : []
  const shown = states
    .map((field) => valueAt(row, field))
    .filter((value) => typeof value === 'string')
    .slice(0, STATES)
  // The one record that this one belongs to, such as its customer.
  const owner = related.find(
    ({ relationship: { source_id: from, source_record_type: of } }) => from === place.id && of === place.type,
  )
  const ownerType = useType(place.base, owner?.record.record_type ?? '')
  const last = changes.find(({ version }) => version === row.version)
  const claim = 'claim' in row ? row.claim : undefined
  return (
    <>
      <p className="chips record-head">
        {row.status === 'cancelled' && <Chip tone="removed">{words.record.cancelled}</Chip>}
        {row.valid === false && <Chip tone="changed">{words.record.invalid}</Chip>}
        {shown.map((value) => (
          <Chip key={value} tone={toneOf(value)}>
            {value}
          </Chip>
        ))}
        {owner && (
          <span className="meta">
            <Text>{fieldName(owner.relationship.rel_type)}</Text>{' '}
            <TextLink
              className="ink"
              href={to.record(place.base, owner.record.record_type, owner.record.id)}
              text={titleOf(owner.record, ownerType)}
            />
          </span>
        )}
        <span className="meta">
          {words.record.changed} <Time at={row.updated_at} as="ago" />{' '}
          {last && <Text>{words.record.changedBy(last.actor.name)}</Text>}
        </span>
      </p>
      {claim && claim.status === 'active' && <InWork base={place.base} claim={claim} />}
    </>
  )
}

function InWork({ base, claim }: { base: string; claim: Claim }) {
  const now = useNow()
  const session = useSession()
  const write = useWrite(base)
  const isMine = 'self' in session && session.self.id === claim.holder?.token_id
  const name = claim.holder?.name ?? words.nobody
  const mayRelease = useMay(base, claim.record_type, isMine ? 'write' : 'manage')
  return (
    <>
      <section className="chips box sunken claimed" aria-label={`${name} ${words.record.worksOn}`}>
        <Shape name={name} kind={claim.holder?.kind} />
        <span>
          {isMine ? (
            words.record.mine
          ) : (
            <>
              <Text>{name}</Text> {words.record.worksOn}
            </>
          )}
        </span>
        <span className="meta">
          {words.record.left(span(Math.max(0, Date.parse(claim.expires_at) - now)))},{' '}
          {words.record.attempt(claim.attempts)}
        </span>
        <Button
          className="quiet end ink"
          label={words.record.release}
          title={mayRelease ? words.record.releaseHint : words.mayNotRelease}
          disabled={write.isPending || !mayRelease}
          onClick={() =>
            write.send(
              'POST',
              pathOf([base, 'claims', claim.id, 'release'], { force: isMine ? undefined : true }),
            )
          }
        />
      </section>
      {write.error && <Failure of={write.error} />}
    </>
  )
}

/** The tabs of a record. */
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
