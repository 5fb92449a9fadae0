/** One token: what it may, used, did and tried, and the ways to stop it and take back what it did. */
import { to } from '../../addresses.ts'
import { timeNow } from '../../api/clock.ts'
import { useSession } from '../../api/session.ts'
import type { Token } from '../../api/shapes.ts'
import { Failure } from '../../parts/answer.tsx'
import { Button } from '../../parts/button.tsx'
import { CardItem, Facts, Panel, Rows } from '../../parts/card.tsx'
import { Chart } from '../../parts/chart.tsx'
import { grantWords, reaches, useMay } from '../../parts/grants.ts'
import { LinkButton } from '../../parts/link.tsx'
import { itemsOf, Menu } from '../../parts/menu.tsx'
import { usePauses, usePausing } from '../../parts/pauses.tsx'
import { clock, cut, DAY, HOUR, shortTime, startOfDay, Text, Time, whole } from '../../parts/text.tsx'
import { Who } from '../../parts/who.tsx'
import { bytes, words } from '../../words.ts'
import { type Span, useFailed, useToolUsage, type useUsage } from './load.ts'

type Props = {
  base: string
  token: Token
  usage: ReturnType<typeof useUsage>
  span: Span
  onUndo: (since: number) => void
  onRevoke: () => void
}

export function TokenPanel({ base, token, usage, span, onUndo, onRevoke }: Props) {
  const session = useSession()
  const isSelf = 'self' in session && session.self.name === token.name
  const mayWrite = useMay(base, '*', 'write')
  const mayRevoke = useMay(base, '*', 'admin') && !isSelf
  const write = usePausing(base)
  const isPaused = usePauses(base).some(({ pause }) => pause.token_id === token.id)
  const sum = usage.sum(token)
  const grants = [...new Set(token.grants.filter((grant) => reaches(grant, base)).map(grantWords))]
  const text = words.agents.moments
  const moments = [
    [timeNow() - HOUR, text.hour],
    [startOfDay(timeNow()) + 12 * HOUR, text.noon],
    [startOfDay(timeNow()), text.today],
    [timeNow() - 7 * DAY, text.week],
    [Date.parse(token.created_at), text.ever],
  ] as const
  return (
    <Panel back={to.agents(base) + location.search} title={<Who {...token} />} note={words.kinds[token.kind]}>
      {usage.isKnown && (
        <div className="card-item">
          <p className="small faint legend">
            <span>
              <strong>{whole.format(sum.calls)}</strong> {words.agents.calls(sum.calls)}
            </span>
            <span className={sum.failed > 0 ? 'failed-word' : ''}>
              <strong>{whole.format(sum.failed)}</strong> {words.agents.failed}
            </span>
            <span>
              <strong>{whole.format(sum.changes)}</strong> {words.agents.changes(sum.changes)}
            </span>
            <span>
              {words.agents.bytes(bytes(sum.bytes_in), bytes(sum.bytes_out))}
              {sum.calls > 0 && ` · ${words.agents.each(Math.round(sum.ms / sum.calls))}`}
            </span>
          </p>
          <Chart
            title={words.agents.callsBy[span]}
            labels={usage.starts.map((start) => (span === '24h' ? clock.format(start) : shortTime(start)))}
            marks={5}
            series={[
              { name: words.agents.failed, tone: 'tone-4', values: usage.series(token, 'failed') },
              { name: words.agents.succeeded, tone: `tone-${token.kind}`, values: succeeded(usage, token) },
            ]}
          />
        </div>
      )}
      <Calls base={base} token={token.name} since={usage.starts[0] ?? 0} failures={sum.failed} />
      <Facts
        of={{
          [words.agents.heads.may]: (
            <Rows of={grants.map((text) => [text, <Text key={text}>{text}</Text>])} />
          ),
          [words.agents.token]: <code>{token.masked}</code>,
          [words.agents.made]: <Time at={token.created_at} />,
          [words.token.ends]: token.expires_at === null ? words.agents.noEnd : <Time at={token.expires_at} />,
        }}
      />
      <p className="card-item chips">
        <LinkButton
          icon="activity"
          label={words.agents.whatItDid}
          href={to.activity(base, { who: token.name })}
        />
        {mayWrite && (
          <Menu
            className=""
            icon="undo"
            label={words.agents.undo}
            items={itemsOf(
              moments.filter(([since]) => since < timeNow()),
              onUndo,
            )}
          />
        )}
        {mayWrite && !isSelf && (
          <Button
            label={isPaused ? words.pause.resume : words.pause.pause}
            disabled={write.isPending}
            onClick={() => write.act(token.id, isPaused ? 'resume' : 'pause')}
          />
        )}
        {mayRevoke && <Button className="danger" label={words.agents.revoke} onClick={onRevoke} />}
      </p>
      {write.error && <Failure of={write.error} />}
    </Panel>
  )
}

const succeeded = (usage: Props['usage'], token: Token): number[] => {
  const failed = usage.series(token, 'failed')
  return usage.series(token, 'calls').map((calls, at) => calls - (failed[at] ?? 0))
}

const TOOLS = 8
const FAILURES = 12
const MESSAGE_CHARS = 200

type CallsProps = { base: string; token: string; since: number; failures: number }

/** The tools that a token called, and what it tried and failed at. */
function Calls({ base, token, since, failures }: CallsProps) {
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
                {tool == null ? words.agents.otherRequests : <Text>{tool}</Text>} {whole.format(calls)}
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
            <li key={id} className="stack py-1">
              <Time at={at} />
              <Text className="tool to-start">{tool ?? route ?? surface}</Text>
              <Text className="faint">{cut(message ?? outcome, MESSAGE_CHARS).text}</Text>
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
