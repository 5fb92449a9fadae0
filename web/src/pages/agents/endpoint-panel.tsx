/** An endpoint as a model reads it: its tools, what they cost in tokens, and its bounds in words. */
import { to } from '../../addresses.ts'
import { useTypes } from '../../api/queries.ts'
import type { Selection, Token } from '../../api/shapes.ts'
import { CardItem } from '../../parts/card.tsx'
import { Copied } from '../../parts/copied.tsx'
import { pendingOf } from '../../parts/failure.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Facts, Panel } from '../../parts/panel.tsx'
import { Text } from '../../parts/plain-text.tsx'
import { whole } from '../../parts/text.ts'
import { Who } from '../../parts/who.tsx'
import { words } from '../../words.ts'
import { boundsOf } from './bounds.ts'
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
      <summary>
        <Icon name="right" />
        <Text in="code">{name}</Text>
        <span className="meta">{words.agents.cost(whole.format(tokens))}</span>
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
