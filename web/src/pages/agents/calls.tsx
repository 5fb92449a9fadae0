/** The tools that a token called, and what it tried and failed at. */
import { Failure } from '../../parts/failure.tsx'
import { Text } from '../../parts/plain-text.tsx'
import { cut, whole } from '../../parts/text.ts'
import { Time } from '../../parts/time.tsx'
import { words } from '../../words.ts'
import { type Call, useCalls } from './load.ts'

const READ = 1000
const TOOLS = 8
const FAILURES = 12
const MESSAGE_CHARS = 200
const OK = 'ok'

const nameOf = ({ tool, route, surface }: Call) => tool ?? route ?? surface

export function Calls({ base, token, since }: { base: string; token: string; since: number }) {
  const calls = useCalls(base, token, since, READ)
  // A server that keeps no calls answers 404.
  if (calls.error) return calls.error.status === 404 ? null : <Failure of={calls.error} />
  const all = calls.data?.data
  if (!all) return null
  const tools = [...Map.groupBy(all, nameOf)].sort(([, one], [, other]) => other.length - one.length)
  const failed = all.filter(({ outcome }) => outcome !== OK)
  return (
    <>
      {tools.length > 0 && (
        <div className="card-item">
          <h3>{words.agents.tools}</h3>
          <p className="items">
            {tools.slice(0, TOOLS).map(([name, of]) => (
              <span key={name} className="tool">
                <Text>{name}</Text> {whole.format(of.length)}
              </span>
            ))}
            {tools.length > TOOLS && <span className="meta">{words.agents.more(tools.length - TOOLS)}</span>}
          </p>
        </div>
      )}
      <div className="card-item">
        <h3>{words.agents.tried}</h3>
        {failed.length === 0 && <p className="meta">{words.agents.noFailure}</p>}
        <ul className="tried">
          {failed.slice(0, FAILURES).map((call) => (
            <li key={call.id}>
              <Time at={call.at} />
              <span className="tool">
                <Text>{nameOf(call)}</Text>
              </span>
              <span>
                <Text>{cut(call.message ?? call.outcome, MESSAGE_CHARS).text}</Text>
              </span>
            </li>
          ))}
        </ul>
        {failed.length > FAILURES && <p className="meta">{words.agents.more(failed.length - FAILURES)}</p>}
      </div>
    </>
  )
}
