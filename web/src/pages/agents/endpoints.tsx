/** The endpoints, each a set of tools for one kind of agent, and one of them as a model reads it: tools, their tokens, bounds in words. */
import { Link } from 'wouter'
import { to } from '../../addresses.ts'
import { type Endpoint, type EndpointTool, type RecordType, type Token, useTypes } from '../../api/queries.ts'
import { pendingOf } from '../../parts/answer.tsx'
import { Icon } from '../../parts/button.tsx'
import { Card, CardItem, Facts, Panel, Rows } from '../../parts/card.tsx'
import { Copied } from '../../parts/copied.tsx'
import { endpointsOf } from '../../parts/grants.ts'
import { filterWords, isFilter, nameOf, plural, pluralOf } from '../../parts/record-types.ts'
import { Chip, fieldName, Meta, Text, whole } from '../../parts/text.tsx'
import { Who } from '../../parts/who.tsx'
import { words } from '../../words.ts'
import { type Tool, useEndpoints, useResolved } from './load.ts'

type Props = {
  base: string
  endpoints: readonly (Pick<Endpoint, 'id' | 'name'> & Partial<Endpoint>)[]
  tokens: readonly Token[]
  selected: string | undefined
}

/** The tokens that have a grant on an endpoint. */
const holders = (tokens: readonly Token[], id: string): Token[] =>
  tokens.filter(({ grants }) => grants.some((grant) => endpointsOf(grant).includes(id)))

export function Endpoints({ base, endpoints, tokens, selected }: Props) {
  if (endpoints.length === 0) return null
  return (
    <Card
      className="later"
      icon="plug"
      title={words.agents.endpoints}
      note={<span className="wide-only">{words.agents.endpointsAbout}</span>}
    >
      <ul>
        {endpoints.map(({ id, name, description, enabled }) => (
          <li key={id} className={`card-item row gap-3 ${id === selected ? 'selected' : ''}`}>
            <div className="grow">
              <Link
                className="ink"
                href={to.endpoint(base, id)}
                aria-current={id === selected ? 'true' : undefined}
              >
                <Text in="strong">{name ?? id}</Text>
              </Link>{' '}
              {enabled === false && <Chip>{words.agents.off}</Chip>}
              {description && <Meta>{description}</Meta>}
            </div>
            <span className="chips">
              {holders(tokens, id)
                .slice(0, 3)
                .map((token) => (
                  <Who key={token.id} name={token.name} kind={token.kind} />
                ))}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  )
}

export function EndpointPanel({ base, id, tokens }: { base: string; id: string; tokens: readonly Token[] }) {
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
              <Text in="blockquote">{resolved.data.instructions}</Text>
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
            of={{
              [words.agents.holders]:
                who.length === 0 ? (
                  words.agents.noHolder
                ) : (
                  <Rows of={who.map((token) => [token.id, <Who key={token.id} {...token} />])} />
                ),
            }}
          />
          <div className="card-item">
            <Copied
              label={words.automation.facts.address}
              text={`${location.origin}/mcp/${encodeURIComponent(base)}/e/${encodeURIComponent(id)}`}
            />
          </div>
        </>
      )}
    </Panel>
  )
}

function Bounds({ base, tools }: { base: string; tools: readonly EndpointTool[] }) {
  const types = useTypes(base).data ?? []
  return (
    <CardItem title={words.agents.bounds}>
      {tools.map((selection) => {
        const type = types.find(({ id }) => id === selection.record_type)
        return (
          <ul key={JSON.stringify(selection)}>
            {boundsOf(selection, type).map((sentence, at) => (
              <li key={sentence} className={at > 0 ? 'faint' : ''}>
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
      <dl className="stack facts">
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
function boundsOf(selection: EndpointTool, type: RecordType | undefined): string[] {
  const { record_type: id, operations, fields, filter, write_filter: written, defaults } = selection
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
    ...Object.entries(defaults ?? {}).map(([field, value]) => text.begins(fieldName(field), String(value))),
  ]
}
