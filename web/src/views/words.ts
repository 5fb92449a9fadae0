/** Every sentence of the views, and those that the shared parts take of the explorer. The build puts this in the place of `words.ts`. */
const counted = (count: number, one: string, more = `${one}s`) => `${count} ${count === 1 ? one : more}`

export const words = {
  empty: 'empty',
  yes: 'yes',
  no: 'no',
  becomes: 'becomes',
  severalValues: 'several values',
  moreFields: (count: number) => `and ${counted(count, 'more field')}`,
  showAll: (chars: number) => `Show all ${chars} characters`,

  waiting: 'Waiting for the answer …',
  failed: 'That did not work.',
  noHost: 'This page belongs into a chat that shows views.',
  more: (count: number) => `and ${count} more`,
  by: 'by',

  decide: {
    accept: 'Accept',
    sendBack: 'Send back',
    decline: 'Decline',
    note: 'What should be different?',
    breaks: 'Does not fit yet',
    conflicts: 'Changed on both sides',
    skipped: 'Left as it is, because it was changed later',
    proposed: 'Proposed. Others see it once a person has promoted it.',
    elsewhere: 'You decide in the explorer.',
    open: 'Open the explorer',
    waits: 'This waits for a person.',
    nothing: 'There is nothing to decide.',
    outcome: {
      accept: 'Accepted. It is done.',
      send_back: 'Sent back.',
      decline: 'Declined. Nothing was changed.',
    },
    told: (choice: string, what: string) => `The person decided in the view: ${choice}. ${what}`,
    states: { create: 'new', update: 'changed', delete: 'deleted' },
  },
  records: {
    count: (count: number, hasMore: boolean) => `${hasMore ? 'The first ' : ''}${counted(count, 'record')}`,
    none: 'No record matches.',
    field: 'Field',
    contains: 'contains',
    filter: 'Filter',
    back: 'Back to the list',
    save: 'Save',
    saved: 'Saved.',
    told: (id: string, fields: string) => `The person changed ${id} in the view: ${fields}.`,
    notJson: (name: string) => `${name} is not JSON.`,
  },
  changes: {
    title: 'What happened',
    undo: 'Undo',
    none: 'Nothing was changed.',
    operations: {
      create: 'created',
      update: 'changed',
      cancel: 'cancelled',
      delete: 'deleted',
      restore: 'restored',
    },
  },
}
