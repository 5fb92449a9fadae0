/** The fields of deletions and their plans that REST and MCP return. */
import { graphql } from '../graphql/document.ts'

const PlanGroup = graphql(`fragment PlanGroup on DeletionGroup { count of { type count } }`)

export const PlanParts = graphql(
  `fragment PlanParts on DeletionPlan {
    what bases { ...PlanGroup } recordTypes { ...PlanGroup } relationshipTypes { ...PlanGroup }
    fileTypes { ...PlanGroup } files { ...PlanGroup }
    attachments { ...PlanGroup } records { ...PlanGroup } relationships { ...PlanGroup } samples titles token expiresAt
  }`,
  [PlanGroup],
)

export const DeletionParts = graphql(
  `fragment DeletionParts on Deletion {
    bases { ...PlanGroup } recordTypes { ...PlanGroup } relationshipTypes { ...PlanGroup } fileTypes { ...PlanGroup }
    files { ...PlanGroup } attachments { ...PlanGroup } records { ...PlanGroup } relationships { ...PlanGroup } samples titles
  }`,
  [PlanGroup],
)
