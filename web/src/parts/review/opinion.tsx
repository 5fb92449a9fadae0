/** What reviewers said about a change-set, and what the caller may do about it. What was said before its last change is quiet. */
import {
  type ChangeSet,
  type ChangeSetReview,
  type Edit,
  type Page,
  pathOf,
  useBase,
  useRead,
} from '../../api/queries.ts'
import { type Grant, useSession } from '../../api/session.ts'
import { words } from '../../words.ts'
import { Card } from '../card.tsx'
import { allows } from '../grants.ts'
import { type Named, recordOf } from '../proposal.ts'
import { Chip, fieldName, Text, Time, type Tone } from '../text.tsx'
import { Who } from '../who.tsx'

export type Verdict = ChangeSetReview['verdict']
/** About all of it, or about some of its changes. */
export type Said = Omit<ChangeSetReview, 'resources'> & {
  resources: (Named & { fields?: string[] })[] | null
}

/** Newest first. */
export const useSaid = (from: string | undefined, isSet: boolean) =>
  useRead<Page<Said>>(pathOf([from ?? '', 'reviews'], { limit: 200 }), { enabled: isSet })

const TONES: Readonly<Record<Verdict, Tone>> = {
  comment: 'quiet',
  approve: 'added',
  request_changes: 'changed',
  reject: 'removed',
}

export function Opinion({ of: { by, verdict, at, text, resources, is_stale: isStale } }: { of: Said }) {
  const fields = resources?.flatMap(({ fields: named = [] }) => named) ?? []
  const isOld = isStale && verdict !== 'comment'
  return (
    <div className="card-item review-opinion">
      <p className="chips">
        <Who {...by} />
        <Chip tone={isOld ? 'quiet' : TONES[verdict]}>{words.review.verdictsGiven[verdict]}</Chip>
        <span className="meta">
          {fields.length > 0 && <Text>{`${fields.map(fieldName).join(', ')} · `}</Text>}
          <Time at={at} />
          {isOld && ` · ${words.review.beforeLast}`}
        </span>
      </p>
      {text !== null && <Text in="p">{text}</Text>}
    </div>
  )
}

/** What was said on the whole. What was said on records stands with them. */
export function Opinions({ said }: { said: readonly Said[] }) {
  const whole = said.filter(({ resources }) => resources === null)
  if (whole.length === 0) return null
  return (
    <Card title={words.review.saidAbout}>
      {whole.map((each) => (
        <Opinion key={each.id} of={each} />
      ))}
    </Card>
  )
}

/** Grants whose writes count by themselves: what a token only proposes decides nothing. */
export const direct = (grants: readonly Grant[]): Grant[] =>
  grants.filter(({ writes = 'direct' }) => writes === 'direct')

export type Rights = {
  isOwn: boolean
  mayPromote: boolean
  mayReview: boolean
  maySay: boolean
  mayOpen: boolean
}

/** `request` is undefined where nobody has asked for a decision. */
type Item = {
  from?: string
  request?: { may_decide?: boolean }
  set?: ChangeSet
  by: { name: string } | null
}

/** Of a change-set, the types that it touches count; of links, and of configuration, all of the base. */
export function useRights(base: string, item: Item, edits: readonly Edit[] = []): Rights {
  const session = useSession()
  const self = 'self' in session ? session.self : undefined
  const environment = useBase(base).data?.environment
  const { request, set } = item
  const isOwn = request !== undefined && self !== undefined && item.by?.name === self.name
  const types = new Set(edits.map((edit) => (edit.kind === 'record' ? recordOf(edit)[0] : '*')))
  const all = direct(self?.grants ?? [])
  const may = (type: string, permission: Grant['permission']) =>
    allows(all, base, type, permission, environment)
  const mayWrite = [...types].every((type) => may(type, 'write'))
  const mayReview = set !== undefined && types.size > 0 && mayWrite && !isOwn
  const mayPromote = request?.may_decide ?? (set ? mayWrite : may('*', 'admin'))
  const mayEnter = allows(self?.grants ?? [], item.from ?? base, '*', 'write', 'preview')
  const mayOpen = may('*', 'write') || (set !== undefined && self !== undefined && set.created_by === self.id)
  return {
    isOwn,
    mayPromote: mayPromote && !isOwn,
    mayReview,
    maySay: set !== undefined && (mayWrite || mayEnter),
    mayOpen,
  }
}
