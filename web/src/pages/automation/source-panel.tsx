/** A source: what of another system it reads and writes. */
import { to } from '../../addresses.ts'
import { TextLink } from '../../parts/link.tsx'
import { Facts, Panel } from '../../parts/panel.tsx'
import { Text } from '../../parts/plain-text.tsx'
import { kindName } from '../../parts/previews.ts'
import { pluralOf } from '../../parts/record-types.ts'
import { words } from '../../words.ts'
import type { Source } from './load.ts'

export const SourcePanel = ({ base, source, back }: { base: string; source: Source; back: string }) => (
  <Panel back={back} title={<Text>{source.name}</Text>} note={kindName('source')}>
    <Facts
      of={[
        [
          words.automation.facts.of,
          <TextLink key="of" href={to.records(base, source.type.id)} text={pluralOf(source.type)} />,
        ],
        [words.automation.facts.address, <Text key="host">{source.host}</Text>],
        [
          words.automation.facts.calls,
          source.calls.map((call) => words.automation.calls[call] ?? call).join(', '),
        ],
      ]}
    />
    <p className="card-item meta">{words.automation.sourceAbout}</p>
  </Panel>
)
