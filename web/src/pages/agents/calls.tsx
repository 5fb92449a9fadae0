/** The tools that a token called, and what it tried and failed at. */
import { CardItem } from '../../parts/card.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Text } from '../../parts/plain-text.tsx'
import { cut, whole } from '../../parts/text.ts'
import { Time } from '../../parts/time.tsx'
import { words } from '../../words.ts'
import { useFailed, useToolUsage } from './load.ts'

const TOOLS = 8
const FAILURES = 12
const MESSAGE_CHARS = 200

type Props = { base: string; token: string; since: number; failures: number }

export function Calls({ base, token, since, failures }: Props) {
  const used = useToolUsage(base, token, since)
  const failed = useFailed(base, token, since, FAILURES)
  const tools = (used.data?.data ?? []).filter(({ calls }) => calls > 0)
  const shown = failed.data?.data ?? []
  return (
    <>
      {tools.length > 0 && (
        <CardItem title={words.agents.tools}>
          <p className="items">
            {tools.slice(0, TOOLS).map(({ tool, calls, failed: inVain }) => (
              <span key={tool} className="tool">
                {tool === null ? words.agents.otherRequests : <Text>{tool}</Text>} {whole.format(calls)}
                {inVain > 0 && (
                  <span className="failed-word">
                    {' '}
                    {whole.format(inVain)} {words.agents.failed}
                  </span>
                )}
              </span>
            ))}
            {tools.length > TOOLS && <span className="meta">{words.andMore(tools.length - TOOLS)}</span>}
          </p>
        </CardItem>
      )}
      <CardItem title={words.agents.tried}>
        {failed.error && <Failure of={failed.error} />}
        {failed.data && shown.length === 0 && <p className="meta">{words.agents.noFailure}</p>}
        <ul className="tried">
          {shown.map(({ id, at, tool, route, surface, message, outcome }) => (
            <li key={id}>
              <Time at={at} />
              <Text className="tool">{tool ?? route ?? surface}</Text>
              <span>
                <Text>{cut(message ?? outcome, MESSAGE_CHARS).text}</Text>
              </span>
            </li>
          ))}
        </ul>
        {shown.length > 0 && failures > shown.length && (
          <p className="meta">{words.andMore(failures - shown.length)}</p>
        )}
      </CardItem>
    </>
  )
}
