/** An endpoint as a model reads it: its tools, what they cost in tokens, and its bounds in words. */
import { to } from '../../addresses.ts'
import { useTypes } from '../../api/queries.ts'
import type { RecordType, Selection, Token } from '../../api/shapes.ts'
import { CardItem } from '../../parts/card.tsx'
import { Copied } from '../../parts/copied.tsx'
import { pendingOf } from '../../parts/failure.tsx'
import { filterWords, isFilter } from '../../parts/filter-words.ts'
import { Icon } from '../../parts/icon.tsx'
import { Facts, Panel } from '../../parts/panel.tsx'
import { nameOf, plural, pluralOf } from '../../parts/record-types.ts'
import { fieldName, Text, whole } from '../../parts/text.tsx'
import { Who } from '../../parts/who.tsx'
import { words } from '../../words.ts'
import { holders } from './endpoints.tsx'
import { type Tool, useEndpoints, useResolved } from './load.ts'

type Props = { base: string; id: string; tokens: readonly Token[] }

export function EndpointPanel({ base, id, tokens }: Props) {
  const resolved = useResolved(base, id)
  const endpoint = useEndpoints(base).rows.find((each) => each.id === id)
  const tools = resolved.data?.tools ?? []
  const cost = tools.reduce((sum, tool) => sum + tool.tokens, 0)
  const who = holders(tokens, id)
  return (
    <Panel
      back={to.agents(base) + location.search}
      title={<Text>{resolved.data?.name ?? id}</Text>}
      note={endpoint?.enabled === false ? words.agents.off : words.agents.endpoint}
    >
      {pendingOf(resolved, 8)}
      {resolved.data && (
        <>
          <CardItem title={words.agents.instructions}>
            {resolved.data.instructions ? (
              <blockquote>
                <Text>{resolved.data.instructions}</Text>
              </blockquote>
            ) : (
              <p className="meta">{words.agents.noInstructions}</p>
            )}
          </CardItem>
          {endpoint?.tools && <Bounds base={base} tools={endpoint.tools} />}
          <CardItem title={words.agents.toolsOf(tools.length, cost)}>
            <ul className="tool-list">
              {tools.map((tool) => (
                <ToolItem key={tool.name} tool={tool} />
              ))}
            </ul>
          </CardItem>
          <Facts
            of={[
              [
                words.agents.holders,
                who.length === 0 ? (
                  <span key="who">{words.agents.noHolder}</span>
                ) : (
                  <ul key="who">
                    {who.map((token) => (
                      <li key={token.id}>
                        <Who name={token.name} kind={token.kind} />
                      </li>
                    ))}
                  </ul>
                ),
              ],
            ]}
          />
          <div className="card-item">
            <Copied
              label={words.connect.address}
              text={`${location.origin}/mcp/${encodeURIComponent(base)}/e/${encodeURIComponent(id)}`}
            />
          </div>
        </>
      )}
    </Panel>
  )
}

function Bounds({ base, tools }: { base: string; tools: readonly Selection[] }) {
  const types = useTypes(base).data ?? []
  return (
    <CardItem title={words.agents.bounds}>
      {tools.map((selection) => {
        const type = types.find(({ id }) => id === selection.record_type)
        return (
          <ul key={JSON.stringify(selection)} className="bounds">
            {boundsOf(selection, type).map((sentence) => (
              <li key={sentence}>
                <Text>{sentence}</Text>
              </li>
            ))}
          </ul>
        )
      })}
    </CardItem>
  )
}

const ToolItem = ({ tool: { name, description, tokens, input_schema: input } }: { tool: Tool }) => (
  <li>
    <details>
      <summary className="row">
        <Icon name="right" />
        <Text in="code">{name}</Text>
        <span className="meta end">{words.agents.cost(whole.format(tokens))}</span>
      </summary>
      <Text in="p">{description}</Text>
      <dl className="facts">
        {Object.entries(input.properties ?? {}).map(([field, schema]) => (
          <div key={field}>
            <dt>
              <Text in="code">{field}</Text>
            </dt>
            <dd className="meta">
              {schema.enum ? <Text>{schema.enum.map(String).join(', ')}</Text> : words.schema.of(schema)}
              {input.required?.includes(field) && `, ${words.schema.needed}`}
            </dd>
          </div>
        ))}
      </dl>
    </details>
  </li>
)

/** What a selection of tools lets its callers see and do, in sentences. */
function boundsOf(selection: Selection, type: RecordType | undefined): string[] {
  const { record_type: id, operations, fields, filter, write_filter: written, defaults = {} } = selection
  const name = (type ? pluralOf(type) : plural(nameOf(type, id))).toLowerCase()
  const known = Object.keys(type?.json_schema.properties ?? {})
  const shown = fields?.map((field) => field.replace(/^data\./, ''))
  const hidden = shown ? known.filter((each) => !shown.includes(each)).map(fieldName) : []
  const text = words.agents.bound
  return [
    text.does(operations.map((each) => text.operations[each] ?? each).join(', '), name),
    ...(isFilter(filter) ? [text.sees(name, filterWords(filter))] : []),
    ...(isFilter(written) ? [text.writes(name, filterWords(written))] : []),
    ...(hidden.length > 0 ? [text.never(hidden.join(', '))] : []),
    ...Object.entries(defaults).map(([field, value]) => text.begins(fieldName(field), String(value))),
  ]
}
