/**
 * The tickets of the desk as they are created. The counts are chosen so that, when the story is over, 268 of
 * 477 are not solved: 56 of them nobody's, and 83 of all of low priority.
 */
type Ticket = {
  subject: string
  stage: string
  priority: string
  owner?: string
  customer_name: string
  channel: string
  due: string
  refund?: number
  tags: string[]
}
type Entry = { id: string; data: Ticket }
export type Tickets = {
  /** As created: all 477, and the one that is deleted. */
  all: Entry[]
  /** What `triage-agent` closes, the three that Jonas opens again first. */
  closed: Entry[]
  /** Waiting tickets that were another stage before `reply-agent` answered them. */
  answered: Entry[]
  /** High ones that `triage-agent` finds urgent. */
  urgent: Entry[]
  /** Of Copperfield Bank, beside T-1004. */
  copperfield: Entry[]
  mistaken: Entry
}

export const DOUBLE_CHARGE = 'T-1004'
export const COPPERFIELD = 'Copperfield Bank'
export const CUSTOMERS = [
  ...['Atlas Ferry Lines', 'Blue Fern Clinic', COPPERFIELD, 'Halcyon Freight', 'Juniper Hotels'],
  ...['Lumen Dental', 'Marrow & Pine', 'Northwind Labs', 'Paperboat Studio', 'Pelican Print'],
  ...['Quillwork Press', 'Verdant Grid', 'Amber Street Books', 'Cobalt Rail', 'Driftwood Coffee'],
  ...['Elmhurst Schools', 'Foxglove Care', 'Granite Insurance', 'Harbour Seven', 'Ivory Sound'],
]

const SUBJECTS = [
  ...[
    'Charts do not load in Firefox',
    'Export stops at 10,000 rows',
    'Cannot sign in after the password reset',
  ],
  ...[
    'Import of contacts fails on line 212',
    'Two-factor code never arrives',
    'SSO with Okta redirects in a loop',
  ],
  ...[
    'Please delete our trial workspace',
    'Field "region" is missing in the report',
    'Duplicate customers after merge',
  ],
  ...[
    'Change the billing contact',
    'Webhook called twice for one order',
    'Invoice shows the wrong VAT number',
  ],
  ...['Timezone of reports is wrong', 'Slow search since Tuesday', 'Refund for the double charge in October'],
]
const TAGS = ['billing', 'login', 'reports', 'mobile', 'api']
const CHANNELS = ['mail', 'chat', 'phone', 'form']
const LOW_BY_NAME = ['T-1001', 'T-1005', 'T-1007', 'T-1011']
const LOW = 83

export function makeTickets(): Tickets {
  const random = randomFrom(1183)
  const free = shuffled(
    random,
    Array.from({ length: 478 }, (_, index) => `T-${1001 + index}`).filter((id) => id !== DOUBLE_CHARGE),
  )
  const make = (stage: string, owner: string | undefined, more: Partial<Ticket> = {}): Entry => ({
    id: free.pop() ?? '',
    data: {
      subject: SUBJECTS[Math.floor(random() * SUBJECTS.length)] ?? '',
      ...{ stage, priority: ['normal', 'normal', 'high'][Math.floor(random() * 3)] ?? '' },
      ...(owner && { owner }),
      customer_name: CUSTOMERS[free.length % CUSTOMERS.length] ?? '',
      channel: CHANNELS[Math.floor(random() * CHANNELS.length)] ?? '',
      due: `2026-12-${String(1 + Math.floor(random() * 28)).padStart(2, '0')}`,
      tags: [TAGS[Math.floor(random() * TAGS.length)] ?? ''],
      ...more,
    },
  })
  const reopened = [
    make('open', 'jonas', {
      subject: SUBJECTS[14] ?? '',
      customer_name: 'Paperboat Studio',
      priority: 'high',
    }),
    make('solved', 'mara', { subject: SUBJECTS[0] ?? '', customer_name: 'Verdant Grid', priority: 'normal' }),
    make('solved', undefined, {
      subject: SUBJECTS[2] ?? '',
      customer_name: 'Marrow & Pine',
      priority: 'normal',
    }),
  ]
  const stages = spread({ open: 28, waiting: 15, new: 11, solved: 29 })
  const owners = shuffled(random, spread({ mara: 28, ada: 21, jonas: 18, nobody: 16 }))
  const closed = [...reopened, ...stages.map((stage, index) => make(stage, somebody(owners[index])))]
  const ownersLeft = shuffled(random, spread({ ada: 65, jonas: 79, mara: 64, nobody: 56 }))
  const open = spread({ waiting: 63, new: 58, open: 143 }).map((stage, index) =>
    make(stage, somebody(ownersLeft[index])),
  )
  const solved = shuffled(random, spread({ ada: 40, jonas: 46, mara: 40 })).map((owner) =>
    make('solved', owner),
  )
  const mistaken = make('new', undefined, {
    subject: 'Test ticket, please ignore',
    customer_name: 'Ivory Sound',
  })
  const quiet = (entry: Entry) => entry.data.customer_name !== COPPERFIELD
  const answered = open.filter(quiet).slice(0, 12)
  const urgent = open.filter((entry) => quiet(entry) && entry.data.priority === 'high').slice(-4)
  const untouched = shuffled(
    random,
    [...open, ...solved, ...closed.slice(3)].filter((entry) => !urgent.includes(entry)),
  )
  lower(untouched)
  answered.forEach((entry, index) => {
    entry.data.stage = ['open', 'solved', 'new'][index % 3] ?? ''
  })
  const all = [...closed, ...open, ...solved, mistaken, doubleCharge()]
  all.sort((one, other) => (one.id < other.id ? -1 : 1))
  const copperfield = [...open, ...solved].filter((entry) => !quiet(entry)).slice(0, 16)
  return { all, closed, answered, urgent, copperfield, mistaken }
}

/** Makes 83 of these low, first those that the pages name. */
function lower(entries: Entry[]): void {
  const named = entries.filter(({ id }) => LOW_BY_NAME.includes(id))
  const others = entries.filter(({ id }) => !LOW_BY_NAME.includes(id))
  for (const { data } of [...named, ...others].slice(0, LOW)) data.priority = 'low'
}

const doubleCharge = (): Entry => ({
  id: DOUBLE_CHARGE,
  data: {
    ...{ subject: 'Receipt for the annual plan', stage: 'new', priority: 'normal', owner: 'mara' },
    ...{ customer_name: 'Quillwork Press', channel: 'mail', due: '2026-12-18', tags: ['api'] },
  },
})

export const customerId = (name: string) => name.toLowerCase().replaceAll(/[^a-z]+/g, '-')

const somebody = (owner: string | undefined) => (owner === 'nobody' ? undefined : owner)

const spread = (counts: Record<string, number>): string[] =>
  Object.entries(counts).flatMap(([value, count]) => Array<string>(count).fill(value))

function shuffled<T>(random: () => number, list: readonly T[]): T[] {
  const copy = [...list]
  for (let last = copy.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1))
    ;[copy[last], copy[other]] = [copy[other] as T, copy[last] as T]
  }
  return copy
}

/** The same numbers in each run (mulberry32), so that pictures and counts stay. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
