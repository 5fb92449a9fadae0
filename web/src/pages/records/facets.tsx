/** The values that a list has most: states and people, with how many records have each. */
import type { Json, Profile, RecordType } from '../../api/shapes.ts'
import { type Field, fieldsOf, stateField } from '../../parts/record-types.ts'
import { cut, fieldName, Text, toneOf, whole } from '../../parts/text.tsx'
import { words } from '../../words.ts'
import { type Condition, filterOf, isChoice, isChosen, isPerson, toggled } from './filter.ts'
import { useGroups, useProfile } from './load.ts'

const FACETS = 2
/** A field of more values than that is for the filter. */
const VALUES = 12
const VALUE_CHARS = 30

type Props = {
  base: string
  type: RecordType
  conditions: readonly Condition[]
  search: object | undefined
  asOf: string | undefined
  /** The rows are there: they come first. */
  isReady: boolean
  onChange: (conditions: Condition[]) => void
}

export function Facets(props: Props) {
  const profile = useProfile(props.base, props.type.id)
  const fields = facetsOf(props.type, profile.data)
  return (
    <div className="facets">
      {fields.map((field) => (
        <Facet key={field.path} field={field} {...props} />
      ))}
    </div>
  )
}

/** The state first, then who has it, then other fields of few values. */
function facetsOf(type: RecordType, profile: Profile | undefined): Field[] {
  const state = stateField(type)
  const few = ({ path, values, schema }: Field) => {
    const found = profile?.fields.find(({ field }) => field === path)
    const distinct = values?.length ?? found?.distinct ?? VALUES + 1
    return (
      distinct >= 2 &&
      distinct <= VALUES &&
      !schema.format &&
      !((schema.maxLength ?? 0) > 200) &&
      schema.type !== 'array'
    )
  }
  const rank = (field: Field) => (field === state ? 0 : isPerson(field) ? 1 : field.isState ? 2 : 3)
  const fields = fieldsOf(type).map((field) => (field.path === state?.path ? state : field))
  return fields
    .filter(few)
    .sort((a, b) => rank(a) - rank(b))
    .slice(0, FACETS)
}

function Facet({ base, type, field, conditions, search, asOf, isReady, onChange }: Props & { field: Field }) {
  const others = conditions.filter((each) => !isChoice(each, field.path))
  const asked = { filter: filterOf(others, search), as_of: asOf, limit: VALUES + 1 }
  const groups = useGroups(base, type.id, field.path, asked, isReady)
  const found = (groups.data?.data ?? []).map((group) => ({
    value: group[field.path] ?? null,
    count: group.count,
  }))
  const order = (value: Json) => (value === null ? VALUES + 1 : (field.values?.indexOf(value) ?? 0))
  const name = fieldName(field.path)
  if (groups.data && found.length === 0) return null
  return (
    <fieldset className="facet" aria-label={name}>
      <span className="meta">{name.replace(/^./u, (first) => first.toUpperCase())}</span>
      {found
        .sort((a, b) => order(a.value) - order(b.value))
        .map(({ value, count }) => (
          <button
            key={JSON.stringify(value)}
            type="button"
            className={`chip facet-value ${field.isState && typeof value === 'string' ? toneOf(value) : 'quiet'}`}
            aria-pressed={isChosen(conditions, field.path, value)}
            onClick={() => onChange(toggled(conditions, field.path, value))}
          >
            <Text>
              {value === null
                ? isPerson(field)
                  ? words.nobody
                  : words.empty
                : cut(String(value), VALUE_CHARS).text}
            </Text>{' '}
            {whole.format(count)}
          </button>
        ))}
    </fieldset>
  )
}
