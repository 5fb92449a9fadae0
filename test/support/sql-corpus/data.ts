/** The seeded data of the SQL corpus: deterministic, with totals that a double represents exactly. */

type Line = { sku: string; qty: number; price: number }
type Order = {
  number: number
  customer: string
  status: string
  total: number
  paid: boolean
  placed_at: string
  ship_date: string | null
  lines: Line[]
  address: { city: string; zip: string; country: string }
  tags: string[]
}
type Customer = { name: string; email: string; country: string; since: string; vip: boolean | null }
type Product = {
  sku: string
  title: string
  price: number
  stock: number
  attributes: { color: string; weight: number; size: { w: number; h: number } }
}
type Row<T> = { id: string; external_source?: string; external_id?: string; data: T }

const SEED = 20_261_121
const DAY_MS = 86_400_000
const START = Date.UTC(2025, 0, 1)

/** Mulberry32 pseudo-random numbers: the same on every machine. */
function generator(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

const next = generator(SEED)
const pick = <T>(list: readonly [T, ...T[]]): T => list[next(list.length)] ?? list[0]
const padded = (number: number, width: number) => String(number).padStart(width, '0')
const quarters = (least: number, most: number) => (least * 4 + next((most - least) * 4)) / 4
const day = (instant: number) => new Date(instant).toISOString().slice(0, 10)

export const products: Row<Product>[] = Array.from({ length: 30 }, (_, index) => ({
  id: `p${padded(index + 1, 2)}`,
  data: {
    sku: `SKU-${padded(index + 1, 3)}`,
    title: `${pick(['Red', 'Blue', 'Plain'])} ${pick(['Widget', 'Gadget', 'Lamp', 'Chair'])} ${index + 1}`,
    price: quarters(1, 100),
    stock: next(500),
    attributes: {
      color: pick(['red', 'blue', 'none']),
      weight: quarters(1, 20),
      size: { w: 1 + next(50), h: 1 + next(50) },
    },
  },
}))

export const customers: Row<Customer>[] = Array.from({ length: 40 }, (_, index) => ({
  id: `c${padded(index + 1, 2)}`,
  external_source: 'crm',
  external_id: `crm-${index + 1}`,
  data: {
    name: `Customer ${padded(index + 1, 2)}`,
    email: `c${padded(index + 1, 2)}@${pick(['example.com', 'example.org'])}`,
    country: pick(['DE', 'FR', 'US', 'GB', 'JP']),
    since: day(Date.UTC(2020, 0, 1) + next(5 * 365) * DAY_MS),
    vip: pick([true, false, null]),
  },
}))

export const orders: Row<Order>[] = Array.from({ length: 200 }, (_, index) => {
  const status = pick(['new', 'paid', 'shipped', 'cancelled'])
  const placed = START + next(365 * 24 * 60) * 60_000
  const lines = Array.from({ length: 1 + next(4) }, () => {
    const { sku, price } = products[next(products.length)]?.data ?? { sku: 'SKU-001', price: 1 }
    return { sku, qty: 1 + next(5), price }
  })
  return {
    id: `o${padded(index + 1, 3)}`,
    data: {
      number: 1001 + index,
      customer: `c${padded(1 + next(40), 2)}`,
      status,
      total: lines.reduce((sum, { qty, price }) => sum + qty * price, 0),
      paid: status === 'paid' || status === 'shipped',
      placed_at: new Date(placed).toISOString(),
      ship_date: status === 'shipped' ? day(placed + (1 + next(7)) * DAY_MS) : null,
      lines,
      address: {
        city: pick(['Berlin', 'Paris', 'Boston', 'Leeds', 'Osaka']),
        zip: padded(next(100_000), 5),
        country: pick(['DE', 'FR', 'US', 'GB', 'JP']),
      },
      tags: ['gift', 'rush', 'b2b', 'promo'].filter(() => next(3) === 0),
    },
  }
})

const TEXT = { type: 'string' }
const NUMBER = { type: 'number' }
const INTEGER = { type: 'integer' }

/**
 * The record types of the base `shop`. SQL reads the property `status` of an order as `data_status`.
 */
export const TYPES = [
  {
    id: 'order',
    timezone: 'UTC',
    jsonSchema: {
      type: 'object',
      properties: {
        number: INTEGER,
        customer: TEXT,
        status: TEXT,
        total: NUMBER,
        paid: { type: 'boolean' },
        placed_at: { type: 'string', format: 'date-time' },
        ship_date: { type: ['string', 'null'], format: 'date' },
        lines: {
          type: 'array',
          items: { type: 'object', properties: { sku: TEXT, qty: INTEGER, price: NUMBER } },
        },
        address: { type: 'object', properties: { city: TEXT, zip: TEXT, country: TEXT } },
        tags: { type: 'array', items: TEXT },
      },
    },
  },
  {
    id: 'customer',
    timezone: 'UTC',
    jsonSchema: {
      type: 'object',
      properties: {
        name: TEXT,
        email: TEXT,
        country: { $ref: '#/$defs/country' },
        since: { type: 'string', format: 'date' },
        vip: { type: ['boolean', 'null'] },
      },
      $defs: { country: TEXT },
    },
  },
  {
    id: 'Product.v2',
    timezone: 'UTC',
    jsonSchema: {
      type: 'object',
      properties: { sku: TEXT, title: TEXT, price: NUMBER, stock: INTEGER, attributes: { type: 'object' } },
    },
  },
] as const

/** All records of the base `shop`, by type. */
export const RECORDS: readonly { type: string; rows: readonly Row<object>[] }[] = [
  { type: 'order', rows: orders },
  { type: 'customer', rows: customers },
  { type: 'Product.v2', rows: products },
]
