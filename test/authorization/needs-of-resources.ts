/** What each request about MCP resources and prompts needs (resource-samples.ts), by the address. */
import { atEndpoint, both, either, has, type Need, reaches, sight } from '../support/oracle.ts'
import { group, type Rule } from './matrix.ts'

const readType = has('read', 'deal')
const read = has('read', '*')
const atDesk = atEndpoint('desk', 'read', 'deal')
const no: Need = () => false
/** A token of endpoints only has nothing at the addresses of bases. */
const ofTypes: Need = (grants) => grants.some(({ record_type }) => record_type !== undefined)

/** Of an address for those that `entered` names. What it is refused after that is unknown to a token. */
const ofBases = (entered: Need) =>
  new Map<string, Rule>([
    ...group({ need: entered }, 'resources/list|resources/templates/list|prompts/list|skill', /\|/),
    ...group(
      { need: readType, hides: 'id' },
      'type|record|records|type followed|record followed|records followed',
      /\|/,
    ),
    ...group({ need: read, hides: 'id' }, 'file|files|run|runs|file followed|files followed', /\|/),
    ...group({ need: readType, hides: 'ids' }, 'type heard|record heard|records heard', /\|/),
    ...group({ need: read, hides: 'ids' }, 'file heard|files heard', /\|/),
    ...group({ need: has('read', 'prompt'), hides: 'id' }, 'prompt', /\|/),
    ...group({ need: readType, hides: 'ids' }, 'id completed', /\|/),
    ...group({ need: both(has('read', 'prompt'), readType), hides: 'ids' }, 'argument completed', /\|/),
  ])

export const RESOURCE_NEEDS: ReadonlyMap<string, ReadonlyMap<string, Rule>> = new Map([
  ['/mcp', ofBases(ofTypes)],
  ['/mcp/shop', ofBases(sight)],
  [
    '/mcp/shop/e/desk',
    new Map<string, Rule>([
      ...group(
        { need: either(sight, reaches('desk')) },
        'resources/list|resources/templates/list|prompts/list',
        /\|/,
      ),
      ...group(
        { need: atDesk, hides: 'id' },
        'type|record|records|type followed|record followed|records followed',
        /\|/,
      ),
      ...group(
        { need: no, hides: 'id' },
        'file|files|run|runs|file followed|files followed|prompt|skill',
        /\|/,
      ),
      ...group({ need: atDesk, hides: 'ids' }, 'type heard|record heard|records heard|id completed', /\|/),
      ...group({ need: no, hides: 'ids' }, 'file heard|files heard|argument completed', /\|/),
    ]),
  ],
])
