/** What stands in the way of a promotion, and what was chosen to do about it. */
import { Link } from 'wouter'
import { to } from '../../addresses.ts'
import { type Page, pathOf, type RecordType, type Row, useAsk } from '../../api/queries.ts'
import { Button, Icon } from '../../parts/button.tsx'
import { ChangesInTable, changesOf } from '../../parts/diff.tsx'
import { useMay } from '../../parts/grants.ts'
import { TextLink } from '../../parts/link.tsx'
import { keyOf, kindName } from '../../parts/proposal.ts'
import { counted, titleOf } from '../../parts/record-types.ts'
import { sidesOf, typeOf } from '../../parts/schema.ts'
import { fieldName, Meta, Text } from '../../parts/text.tsx'
import { words } from '../../words.ts'
import { type Choices, editOf, placeOf } from './choices.tsx'
import { FixButtons } from './fix-buttons.tsx'
import { type Break, type Migration, type MigrationStep, nameOfEdit, type Proposal } from './load.ts'
import { type Fix, fixesOf } from './schema.ts'

type Choose = (type: string, steps: readonly MigrationStep[]) => void
type Props = {
  base: string
  plan: Proposal
  types: readonly RecordType[]
  migration: Migration
  onChoose: Choose
  /** Undefined for who may not choose. */
  choices: Choices | undefined
}

/** `wanted` is of the migration what was asked for. */
export function Breaks({ wanted, ...props }: Props & { wanted: Migration | null | undefined }) {
  const { plan, types, migration, onChoose } = props
  return (
    <>
      {plan.breaks.map((each) => (
        <Obstacle key={each.path + each.code} of={each} {...props} />
      ))}
      {plan.conflicts
        .filter(({ path }) => path === undefined)
        .map(({ kind, id, production, preview }) => (
          <section key={`${kind}/${id}`} className="amber section mb-4 review-break">
            <h2 className="row">
              <Icon name="warning" />
              <span>
                <Text>{nameOfEdit({ kind, id, diff: [] }, types)}</Text>{' '}
                {words.review.bothChanged(kindName(kind))}
              </span>
            </h2>
            <p>{words.review.bothHint}</p>
            <h3>{words.nav.production}</h3>
            <ChangesInTable changes={changesOf(production)} />
            <h3>{words.environments.kinds.preview}</h3>
            <ChangesInTable changes={changesOf(preview)} />
          </section>
        ))}
      {Object.entries(migration).map(([type, steps]) => (
        <section key={type} className="card row review-chosen">
          <Icon name="review" />
          <p className="grow">
            {steps.map((step) => (
              <span key={JSON.stringify(step)}>
                <Text>
                  {words.review.steps[step.op](
                    fieldName(step.field),
                    step.from ?? null,
                    step.value ?? step.to ?? step.type ?? null,
                  )}
                </Text>{' '}
              </span>
            ))}
            <Text className="meta">
              {words.review.rewrites(
                counted(plan.meta?.records_rewritten?.[type] ?? 0, types, type, 'record'),
              )}
            </Text>
          </p>
          {steps !== wanted?.[type] && (
            <Button className="quiet" label={words.review.leave} onClick={() => onChoose(type, [])} />
          )}
        </section>
      ))}
      {plan.kept && plan.kept.length > 0 && (
        <p className="card card-item meta">
          {words.review.kept}{' '}
          <Text>{plan.kept.map(({ kind, id }) => `${kindName(kind)} ${id}`).join(', ')}</Text>
        </p>
      )}
    </>
  )
}

function Obstacle({ of, base, plan, types, migration, onChoose, choices }: Props & { of: Break }) {
  const type = typeOf(of.path)
  const edit = plan.changes.find(({ kind, id }) => kind === 'record_type' && id === type)
  const production = types.find(({ id }) => id === type)
  const { before, after } = edit && production ? sidesOf(edit, production) : {}
  const fixes = fixesOf(of, before, after)
  const mayDecide = useMay(base, '*', 'admin')
  const isOfRecords = of.code === 'records_invalid'
  const change = editOf(plan, of)
  const add = (steps: readonly MigrationStep[]) => onChoose(type, [...(migration[type] ?? []), ...steps])
  return (
    <section className="amber section mb-4 review-break">
      <h2 className="row">
        <Icon name="warning" />
        <Text>
          {isOfRecords
            ? words.review.wouldNotFit(
                `${counted(of.count ?? 0, types, type, 'record')} ${words.review.ofProduction}`,
              )
            : `${change?.title ? `${change.title}: ` : ''}${words.review.inTheWay[of.code] ?? of.message}`}
        </Text>
      </h2>
      {fixes.map((fix) => (
        <Reason key={JSON.stringify(fix)} fix={fix} />
      ))}
      {fixes.length === 0 &&
        [...new Set(of.samples?.map(({ message }) => message))].slice(0, 3).map((message) => (
          <Text key={message} in="p">
            {message}
          </Text>
        ))}
      {isOfRecords && <Samples base={base} type={type} of={of} types={types} />}
      {!isOfRecords && of.hint !== undefined && <Meta>{of.hint}</Meta>}
      <div className="chips">
        {mayDecide && fixes.map((fix) => <FixButtons key={JSON.stringify(fix)} fix={fix} onChoose={add} />)}
        {change && choices && (
          <Button label={words.review.leaveOut} onClick={() => choices.onLeave(keyOf(change))} />
        )}
        {change && choices && of.code === 'cascade_grew' && (
          <Button label={words.review.deleteToo} onClick={() => choices.onTake(placeOf(change), 'preview')} />
        )}
        {isOfRecords && (
          <Link className="button quiet" href={to.records(base, type, shown(fixes, of))}>
            <Text>{words.review.show(counted(2, types, type, 'record').replace(/^\S+ /, ''))}</Text>
          </Link>
        )}
      </div>
    </section>
  )
}

/** The records of an obstacle: those with a value that goes, else those that the server named. */
function shown(fixes: readonly Fix[], { samples = [] }: Break) {
  const gone = fixes.flatMap((fix) => (fix.kind === 'replace' ? [fix] : []))
  const field = gone[0]?.field
  const condition = field
    ? [field, 'in', gone.filter((fix) => fix.field === field).map(({ from }) => from)]
    : ['id', 'in', samples.map(({ id }) => id)]
  return { filter: JSON.stringify([condition]) }
}

function Reason({ fix }: { fix: Fix }) {
  if (fix.kind === 'repeat') return <p>{words.review.reasons.repeat}</p>
  const [before, value, after] = words.review.reasons[fix.kind]
  return (
    <p>
      {before} <Text in="strong">{fieldName(fix.field)}</Text> {value}
      {fix.kind === 'replace' && <Text>{`“${String(fix.from)}”`}</Text>}
      {after}
    </p>
  )
}

const SAMPLES = 4

function Samples({ base, type, of, types }: Pick<Props, 'base' | 'types'> & { type: string; of: Break }) {
  const ids = [...new Set(of.samples?.map(({ id }) => id))].slice(0, SAMPLES)
  const rows = useAsk<Page<Row>>(
    pathOf([base, 'records', type, 'query']),
    { filter: { field: 'id', op: 'in', value: ids } },
    { enabled: ids.length > 0 },
  ).data?.data
  const definition = types.find((each) => each.id === type)
  const more = (of.count ?? ids.length) - ids.length
  return (
    <p className="chips review-samples">
      {ids.map((id) => {
        const row = rows?.find((each) => each.id === id)
        const title = row ? titleOf(row, definition) : id
        return <TextLink key={id} href={to.record(base, type, id)} text={title} />
      })}
      {more > 0 && <span>{words.andMore(more)}</span>}
    </p>
  )
}
