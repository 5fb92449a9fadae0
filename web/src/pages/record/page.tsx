/** A record: what it is, who set it so, what hangs on it, and how it came to be. */
import { Link } from 'wouter'
import { type PageProps, to } from '../../addresses.ts'
import { pathOf, type Row, useType } from '../../api/queries.ts'
import { Empty, pendingOf, Skeleton } from '../../parts/answer.tsx'
import { Button } from '../../parts/button.tsx'
import { CopyAs, curlOf } from '../../parts/copied.tsx'
import { useMay } from '../../parts/grants.ts'
import { useParameters } from '../../parts/link.tsx'
import { itemsOf, Menu } from '../../parts/menu.tsx'
import { pluralOf, titleOf } from '../../parts/record-types.ts'
import { Text } from '../../parts/text.tsx'
import { LongValue } from '../../parts/value.tsx'
import { useKey } from '../../shell/keys.tsx'
import { Bar } from '../../shell/shell.tsx'
import { words } from '../../words.ts'
import { Edit } from './edit.tsx'
import { Comparison, Fields } from './fields.tsx'
import { Files, Viewer } from './files.tsx'
import { Head, TABS, Tabs } from './head.tsx'
import { History } from './history.tsx'
import { Links } from './links.tsx'
import {
  type Place,
  recordPath,
  useFired,
  useHistory,
  useProposals,
  useRecord,
  useRelated,
  useVersion,
} from './load.ts'
import { Waiting } from './waiting.tsx'
import './record.css'

/** After an edit the focus is where it was before. */
const focusEdit = () => document.querySelector<HTMLElement>('[data-key="e"]')?.focus()

export default function Page({ place: { base, type = '', id = '' } }: PageProps) {
  const place: Place = { base, type, id }
  const [search, change] = useParameters()
  const now = useRecord(place)
  const version = Number(search['v']) || undefined
  const then = useVersion(place, version)
  const history = useHistory(place)
  const related = useRelated(place)
  const recordType = useType(base, type)
  const mayWrite = useMay(base, type, 'write')
  const isEditing = search['edit'] === 'yes' && mayWrite
  const changes = history.data?.data ?? []
  const last = changes[0]?.version ?? now.data?.version ?? 0
  const isPast = version !== undefined && version < last
  const row = isPast ? then.data : now.data
  const show = (shown: number, against?: number) =>
    change({
      v: shown === last ? undefined : String(shown),
      vs: against === undefined ? undefined : String(against),
      edit: undefined,
    })
  const edit = () => change({ edit: 'yes', v: undefined, vs: undefined })
  const step = (by: number) => {
    const next = (version ?? last) + by
    if (next >= 1 && next <= last) change({ v: next === last ? undefined : String(next) }, true)
  }
  useKey('[', () => step(-1))
  useKey(']', () => step(1))
  const list = to.records(base, type)
  const plural = recordType ? pluralOf(recordType) : type
  // What comes at once moves nothing that is read already.
  const fired = useFired(place)
  const isReading = [now, history, related, fired, useProposals(place)].some((each) => each.isPending)
  const isDeleted = now.error?.status === 404 && !isPast
  // What is typed for a record that is deleted meanwhile stays to be read.
  const isKept = isDeleted && isEditing && now.data !== undefined
  const isGone = isDeleted && !isKept && !isReading
  const pending =
    isGone || isKept
      ? undefined
      : (pendingOf(isPast ? then : now, 8) ?? (isReading && <Skeleton lines={8} />))
  const tab = TABS.find((each) => each === search['tab']) ?? 'fields'
  const vs = Number(search['vs']) || undefined
  const files = now.data?._expanded?.attachments ?? []
  return (
    <>
      <Bar trail={[[words.nav.records, list], [plural, list], [id]]}>
        {!isGone && (
          <Menu
            icon="clock"
            label={<span className="wide-only">{words.record.version(version ?? last, last)}</span>}
            name={words.record.version(version ?? last, last)}
            items={itemsOf(
              changes.map((each) => [each.version, words.record.version(each.version), each.actor.name]),
              show,
              { is: version ?? last },
            )}
          />
        )}
        {row && <CopyAs texts={copiesOf(place, row)} />}
        {!isEditing && !isPast && now.data && (
          <Button
            data-key="e"
            label={words.record.edit}
            kbd="e"
            onClick={edit}
            disabled={!mayWrite}
            title={mayWrite ? undefined : words.mayNotWrite}
          />
        )}
      </Bar>
      <div className="record">
        <main className="record-main">
          {isGone && (
            <Empty title={words.record.gone}>
              <Link href={list}>{words.record.toList(plural.toLowerCase())}</Link>
              <Link href={`${list}?view=deleted`}>{words.record.deleted(plural.toLowerCase())}</Link>
            </Empty>
          )}
          {pending}
          {row && !pending && !isGone && (
            <>
              <Text in="h1">{titleOf(row, recordType)}</Text>
              <Head
                place={place}
                row={row}
                type={recordType}
                changes={changes}
                related={related.data?.data ?? []}
              />
              {isPast && (
                <p className="amber chips spread past">
                  {words.record.past(version)}
                  <Button label={words.record.toNow} onClick={() => show(last)} />
                </p>
              )}
              {isKept && <p className="amber">{words.record.gone}</p>}
              {vs !== undefined ? (
                <Comparison place={place} one={vs} other={version ?? last} />
              ) : isEditing && now.data && recordType ? (
                <Edit
                  place={place}
                  row={now.data}
                  type={recordType}
                  onEnd={() => {
                    change({ edit: undefined })
                    requestAnimationFrame(focusEdit)
                  }}
                />
              ) : (
                <>
                  <Tabs
                    tab={tab}
                    onTab={(next) => change({ tab: next === 'fields' ? undefined : next })}
                    counts={{ links: related.data?.meta.total, files: files.length }}
                  />
                  <div role="tabpanel" aria-label={words.record.tabs[tab]} className="stack gap-6 tab-panel">
                    {tab === 'fields' && <Fields row={row} type={recordType} changes={changes} />}
                    {(tab === 'fields' || tab === 'links') && <Waiting place={place} related={related} />}
                    {(tab === 'fields' || tab === 'files') && (
                      <Files files={files} isAll={tab === 'files'} onOpen={(file) => change({ file })} />
                    )}
                    {(tab === 'fields' || tab === 'links') && (
                      <Links
                        place={place}
                        related={related}
                        isAll={tab === 'links'}
                        onAll={() => change({ tab: 'links' })}
                      />
                    )}
                    {tab === 'json' && <LongValue value={row.data} />}
                  </div>
                </>
              )}
            </>
          )}
        </main>
        {isReading || last === 0 ? (
          <div className="history sunken" />
        ) : search['file'] ? (
          <Viewer place={place} name={search['file']} onClose={() => change({ file: undefined })} />
        ) : (
          <History
            place={place}
            history={history}
            fired={fired.data?.data ?? []}
            shown={version ?? last}
            last={last}
            onShow={show}
          />
        )}
      </div>
    </>
  )
}

/** The record for programs: as JSON, as a command, as an address. */
const copiesOf = (place: Place, row: Row) => ({
  [words.copies.json]: JSON.stringify(row, null, 2),
  [words.copies.curl]: curlOf(pathOf(recordPath(place))),
  [words.copies.link]: location.href,
  [words.copies.id]: row.id,
})
