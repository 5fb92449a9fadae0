/** The tool proposal of an endpoint: what its caller has proposed there, as a page for the person. Nobody decides by it. */
import { z } from 'zod'
import { changeLines, countLine, type PlannedChange } from '../../contract/change-lines.ts'
import { DomainError } from '../../foundation/errors.ts'
import { staticOperation } from '../../graphql/execute.ts'
import { ReadResult } from '../budget/read-result.ts'
import { reading, tool } from '../tool/tool.ts'
import { named } from '../tools/environments.ts'
import { changesForView, forView } from '../views/views.ts'

const proposed = staticOperation(
  `query EndpointProposal($base: String!) { proposal(base: $base) { from changes } }`,
)

export const PROPOSAL = 'proposal'

const SAYS = {
  title: 'What you have proposed',
  description: 'Shows a person what you have proposed here and nobody has promoted yet.',
}

export const proposalTool = tool(PROPOSAL, {
  ...SAYS,
  permission: 'read',
  input: z.strictObject(reading),
  showsRecords: true,
  plans: 'promotion',
  run: async ({ base_id: base }, context) => {
    const { from, ...found } = await proposed({ base }, context).then(({ proposal }) => proposal, orNothing)
    const changes = found.changes as unknown as readonly PlannedChange[]
    const lines =
      from === null ? [] : [...changeLines(changes).map(({ text }) => text), countLine(changes, 'due')]
    const next = from === null ? NOTHING : NEXT
    const answer = new ReadResult({ from, plan: lines.join('\n'), changes: changes.map(named), next })
    return forView(answer, { changes: changesForView(changes), request: { title: 'What was proposed' } })
  },
}).bind({ ...SAYS, name: PROPOSAL, given: {} })

/** No argument names what is proposed, so its absence is no fault of one. */
function orNothing(thrown: unknown) {
  if (
    thrown instanceof DomainError &&
    thrown.details.some(({ path, code }) => path === '/from' && code === 'required')
  )
    return { from: null, changes: [] }
  throw thrown
}

const NOTHING =
  'You have proposed nothing here yet. Write with the other tools of this address: your first write opens a proposal.'
const NEXT = 'A person decides, and not at this address: you cannot. Say what you have proposed, and go on.'
