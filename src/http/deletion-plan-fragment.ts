/** The fields of a deletion plan that REST and MCP return. */
import { graphql } from '../graphql/document.ts'

const PlanGroup = graphql(`fragment PlanGroup on DeletionGroup { count of { type count } }`)

export const PlanParts = graphql(
  `fragment PlanParts on DeletionPlan {
    what bases { ...PlanGroup } recordTypes { ...PlanGroup } relationshipTypes { ...PlanGroup }
    fileTypes { ...PlanGroup } files { ...PlanGroup }
    attachments { ...PlanGroup } records { ...PlanGroup } relationships { ...PlanGroup } samples token expiresAt
  }`,
  [PlanGroup],
)
