/** The relationship types that matter to the deletion of a record type. Their ends bound those of their links. */
import { type Db, statement } from '../../storage/database/client.ts'

type RelationshipType = { id: string; on_delete: string; is_touching: boolean; leads_to: boolean }

/** Ids of relationship types, bound to statements: a planner estimates the links of known types by their number. */
export type TypesTouching = {
  /** Those that may have a record of the type at an end. */
  readonly touching: readonly string[]
  /** Those that may lead to it, and delete the source with the target. */
  readonly cascading: readonly string[]
  /** Those that restrict deletions: of the type, and of any. */
  readonly restricting: readonly string[]
  readonly allRestricting: readonly string[]
}

const TYPES = statement(
  'relationship_types_touching',
  `SELECT id, on_delete, target_record_types && ARRAY[$2, '*'] AS leads_to,
     source_record_types || target_record_types && ARRAY[$2, '*'] AS is_touching
   FROM plinth.relationship_type WHERE base_id = $1 ORDER BY id`,
)

/** Reads the relationship types of a base, and finds those that may have a record of the type at an end. */
export async function typesTouching(db: Db, baseId: string, recordType: string): Promise<TypesTouching> {
  const types = await db.query<RelationshipType>(TYPES, [baseId, recordType])
  const idsOf = (isMeant: (type: RelationshipType) => boolean) => types.filter(isMeant).map(({ id }) => id)
  return {
    touching: idsOf(({ is_touching }) => is_touching),
    cascading: idsOf(({ leads_to, on_delete }) => leads_to && on_delete === 'cascade'),
    restricting: idsOf(({ leads_to, on_delete }) => leads_to && on_delete === 'restrict'),
    allRestricting: idsOf(({ on_delete }) => on_delete === 'restrict'),
  }
}
