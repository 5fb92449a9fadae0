/** What an endpoint serves, as GraphQL answers it: the material of its tools. */
import { graphql, type ResultOf } from '../../graphql/document.ts'
import { compile } from '../../graphql/execute.ts'

const Served = graphql(`query ServedEndpoint($base: String!, $id: String!, $whole: Boolean) {
  servedEndpoint(base: $base, id: $id, whole: $whole) {
    tools { name recordType operation description isDescribed fields defaults attaches }
    links { name relType operation sources targets }
    actions { name id title description inputSchema isRead isOpen }
    batch sqlQuery undo
  }
}`)
export const readServed = compile(Served)

type ServedEndpoint = ResultOf<typeof Served>['servedEndpoint']
export type ServedTool = ServedEndpoint['tools'][number]
export type ServedLink = ServedEndpoint['links'][number]
export type ServedAction = ServedEndpoint['actions'][number]
