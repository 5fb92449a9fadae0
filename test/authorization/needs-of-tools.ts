/** What each MCP tool needs for its sample (tool-samples.ts), at the base of its address. */
import { both, has, inPreviews, type Need, sight } from '../support/oracle.ts'
import { group, type Rule } from './matrix.ts'

const readType = has('read', 'deal')
const writeType = has('write', 'deal')
const [read, write, manage] = [has('read', '*'), has('write', '*'), has('manage', '*')]
/** A token of endpoints only has no tools of bases. */
const ofTypes: Need = (grants) => grants.some(({ record_type }) => record_type !== undefined)
const promotes = both(has('admin', '*'), inPreviews(read))

export const TOOL_NEEDS: ReadonlyMap<string, Rule> = new Map([
  ...group({ need: ofTypes }, 'list_bases'),
  ...group({ need: sight }, 'list_types changes search whoami'),
  ...group(
    { need: readType },
    'describe_type query_records get_record get_related record_history aggregate_records fetch',
  ),
  ...group({ need: readType, hides: 'relation' }, 'sql_query'),
  ...group(
    { need: writeType, proposes: true },
    'upsert_record update_record cancel_record delete_record link_records batch create_deal',
  ),
  ...group({ need: has('write', 'note'), proposes: true }, 'create_note'),
  ...group({ need: writeType, proposes: true, hides: 'relation' }, 'sql_write'),
  ...group({ need: writeType }, 'work'),
  ...group({ need: has('manage', 'deal') }, 'define'),
  ...group({ need: has('manage', 'note') }, 'delete_definition'),
  ...group({ need: read }, 'list_files get_file configuration'),
  ...group({ need: both(read, has('write', 'any')), proposes: true, hides: 'id' }, 'run_action'),
  ...group({ need: write }, 'put_file edit_file move_file delete_file'),
  ...group({ need: manage }, 'configure put_base undo'),
  ...group({ need: both(read, inPreviews(manage)) }, 'preview'),
  ...group({ need: both(read, inPreviews(read)) }, 'propose'),
  ...group({ need: both(has('read', 'any'), inPreviews(has('write', 'any'))) }, 'review'),
  ...group({ need: has('admin', '*') }, 'rollback_promotion'),
  ...group({ need: promotes }, 'promote'),
])
