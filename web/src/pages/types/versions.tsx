/** Who changed a record type, when, and what: the newest first. */
import { Link } from 'wouter'
import { to } from '../../addresses.ts'
import { CardItem } from '../../parts/card.tsx'
import { ChangesInTable, changesOf } from '../../parts/diff.tsx'
import { pendingOf } from '../../parts/failure.tsx'
import { SchemaChange } from '../../parts/schema-change.tsx'
import { Time } from '../../parts/time.tsx'
import { Who } from '../../parts/who.tsx'
import { words } from '../../words.ts'
import { useStory } from './load.ts'

export function Versions({ base, type }: { base: string; type: string }) {
  const story = useStory(base, type)
  return (
    <CardItem title={words.record.history}>
      {pendingOf(story, 3)}
      <ul className="plain-list type-versions">
        {story.data?.map(({ version, operation, at, actor, request_id: request, rows, others }) => (
          <li key={version}>
            <p className="chips">
              <Who name={actor.name} kind={actor.kind} />
              <Link href={to.request(base, request)} aria-label={words.types.request(version)}>
                {words.record.short(version)}
              </Link>
              <span className="meta">
                {words.record.operations[operation]} <Time at={at} as="ago" />
              </span>
            </p>
            {operation === 'update' && rows.length > 0 && <SchemaChange rows={rows} isNewType={false} />}
            {operation === 'update' && others.length > 0 && <ChangesInTable changes={changesOf(others)} />}
          </li>
        ))}
      </ul>
    </CardItem>
  )
}
