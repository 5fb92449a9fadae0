import { customers, orders, products } from './data.ts'

/**
 * A valid query and its expected result: the number of rows, the cells of the first row in order, or both.
 */
export type Honest = {
  name: string
  sql: string
  params?: readonly unknown[] | Readonly<Record<string, unknown>>
  rows?: number
  first?: readonly unknown[]
}

type Expected = number | readonly unknown[]

function query(name: string, sql: string, expected: Expected, params?: Honest['params']): Honest {
  const expects = typeof expected === 'number' ? { rows: expected } : { first: expected }
  return { name, sql, ...expects, ...(params && { params }) }
}

const all = orders.map(({ id, data }) => ({ id, ...data }))
const people = customers.map(({ id, data }) => ({ id, ...data }))
const goods = products.map(({ id, data }) => ({ id, ...data }))
const lines = all.flatMap((order) => order.lines.map((line) => ({ ...line, order })))

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0)
const most = (numbers: readonly number[]) => Math.max(...numbers)
const least = (numbers: readonly number[]) => Math.min(...numbers)
const distinct = <T>(values: readonly T[]) => new Set(values).size
const paid = all.filter((order) => order.paid)
const shipped = all.filter((order) => order.ship_date !== null)
const of = (status: string) => all.filter((order) => order.status === status)
const ascending = all.map(({ total }) => total).sort((a, b) => a - b)
const byTotal = [...all].sort((a, b) => b.total - a.total || (a.id < b.id ? -1 : 1))
const byPlace = [...all].sort((a, b) => (a.placed_at + a.id < b.placed_at + b.id ? -1 : 1))
const month = (order: { placed_at: string }) => order.placed_at.slice(0, 7)
const tagged = (tag: string) => all.filter(({ tags }) => tags.includes(tag))
const spend = Map.groupBy(all, ({ customer }) => customer)
const bestSpend = [...spend]
  .map(([customer, own]) => ({ customer, total: sum(own.map(({ total }) => total)) }))
  .sort((a, b) => b.total - a.total || (a.customer < b.customer ? -1 : 1))
const top = byTotal[0]
const TOTAL = sum(all.map(({ total }) => total))

const COUNTING: Honest[] = [
  query('counts', 'SELECT count(*) FROM "order"', [200]),
  query('counts a table by its bare name', 'SELECT count(*) FROM customer', [40]),
  query('reads a relation with a capital and a dot', 'SELECT count(*) FROM "Product.v2"', [30]),
  query('counts with a condition', 'SELECT count(*) FROM "order" WHERE paid', [paid.length]),
  query('counts what is not null', 'SELECT count(ship_date) FROM "order"', [shipped.length]),
  query('counts distinct values', 'SELECT count(DISTINCT customer) FROM "order"', [
    distinct(all.map(({ customer }) => customer)),
  ]),
  query('counts with FILTER', 'SELECT count(*) FILTER (WHERE paid), count(*) FROM "order"', [
    paid.length,
    200,
  ]),
  query('sums', 'SELECT sum(total) FROM "order"', [TOTAL]),
  query('averages', 'SELECT avg(total) = sum(total) / count(*) FROM "order"', [true]),
  query('finds the least and the most', 'SELECT min(total), max(total) FROM "order"', [
    least(ascending),
    most(ascending),
  ]),
  query('sums a condition by CASE', 'SELECT sum(CASE WHEN paid THEN total ELSE 0 END) FROM "order"', [
    sum(paid.map(({ total }) => total)),
  ]),
  query('asks whether all or any hold', 'SELECT bool_and(paid), bool_or(paid), every(paid) FROM "order"', [
    all.every((order) => order.paid),
    true,
    false,
  ]),
  query('counts nothing in an empty result', 'SELECT count(*), sum(total) FROM "order" WHERE false', [
    0,
    null,
  ]),
  query('takes the median', 'SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY total) FROM "order"', [
    ascending[99],
  ]),
  query('interpolates a percentile', 'SELECT percentile_cont(0) WITHIN GROUP (ORDER BY total) FROM "order"', [
    ascending[0],
  ]),
  query(
    'takes several percentiles',
    `SELECT (percentile_disc(ARRAY[0.25, 0.75]) WITHIN GROUP (ORDER BY total))[1]
    FROM "order"`,
    [ascending[49]],
  ),
  query('finds the mode', `SELECT mode() WITHIN GROUP (ORDER BY country) IS NOT NULL FROM customer`, [true]),
  query('takes a deviation', 'SELECT stddev(total) > 0, var_pop(total) > 0 FROM "order"', [true, true]),
  query('correlates', 'SELECT corr(total, total) > 0.99 FROM "order"', [true]),
  query('joins texts', `SELECT string_agg(id, ',' ORDER BY id) FROM "Product.v2" WHERE id < 'p04'`, [
    'p01,p02,p03',
  ]),
  query('gathers an array', `SELECT array_agg(id ORDER BY id DESC) FROM customer WHERE id <= 'c02'`, [
    ['c02', 'c01'],
  ]),
  query('gathers json', `SELECT jsonb_agg(id ORDER BY id) FROM customer WHERE id <= 'c02'`, [['c01', 'c02']]),
  query('gathers an object', `SELECT jsonb_object_agg(id, name) FROM customer WHERE id = 'c01'`, [
    { c01: 'Customer 01' },
  ]),
  query('counts rows by alias', 'SELECT count(o) FROM "order" o', [200]),
  query('ranks a hypothetical row', 'SELECT rank(0) WITHIN GROUP (ORDER BY total) FROM "order"', [1]),
]

const GROUPING: Honest[] = [
  query(
    'groups by a column',
    'SELECT country, count(*) FROM customer GROUP BY country',
    distinct(people.map(({ country }) => country)),
  ),
  query('groups by position', 'SELECT customer, sum(total) FROM "order" GROUP BY 1', spend.size),
  query('groups by an output name', `SELECT data->>'status' AS s, count(*) FROM "order" GROUP BY s`, 4),
  query(
    'groups and orders',
    'SELECT customer, sum(total) AS spent FROM "order" GROUP BY customer ORDER BY spent DESC, customer',
    [bestSpend[0]?.customer, bestSpend[0]?.total],
  ),
  query(
    'filters groups',
    'SELECT customer FROM "order" GROUP BY customer HAVING count(*) >= 5',
    [...spend.values()].filter((own) => own.length >= 5).length,
  ),
  query(
    'groups by month',
    `SELECT date_trunc('month', placed_at) AS m, count(*) FROM "order" GROUP BY 1 ORDER BY 1`,
    distinct(all.map(month)),
  ),
  query(
    'groups by a formatted month',
    `SELECT to_char(placed_at, 'YYYY-MM') m, count(*) FROM "order" GROUP BY m ORDER BY m`,
    [
      month(byPlace[0] ?? { placed_at: '' }),
      all.filter((order) => month(order) === month(byPlace[0] ?? order)).length,
    ],
  ),
  query(
    'groups by an expression with a parameter',
    `SELECT date_trunc($1, placed_at), count(*) FROM "order" GROUP BY date_trunc($1, placed_at)`,
    distinct(all.map(month)),
    ['month'],
  ),
  query(
    'groups by several',
    'SELECT country, vip, count(*) FROM customer GROUP BY country, vip',
    distinct(people.map(({ country, vip }) => `${country} ${vip}`)),
  ),
  query(
    'rolls up',
    'SELECT country, count(*) FROM customer GROUP BY ROLLUP (country)',
    distinct(people.map(({ country }) => country)) + 1,
  ),
  query(
    'cubes',
    "SELECT paid, address->>'country' AS c, count(*) FROM \"order\" GROUP BY CUBE (paid, address->>'country') HAVING grouping(paid, address->>'country') = 3",
    [null, null, 200],
  ),
  query(
    'takes grouping sets',
    'SELECT customer, paid, sum(total) FROM "order" GROUP BY GROUPING SETS ((customer), (paid), ())',
    spend.size + 2 + 1,
  ),
  query(
    'keeps distinct rows',
    'SELECT DISTINCT country FROM customer',
    distinct(people.map(({ country }) => country)),
  ),
  query(
    'keeps the first of each',
    'SELECT DISTINCT ON (customer) customer, id, placed_at FROM "order" ORDER BY customer, placed_at DESC',
    spend.size,
  ),
  query(
    'groups by a json text',
    `SELECT address->>'city' AS city, count(*) FROM "order" GROUP BY address->>'city'`,
    distinct(all.map(({ address }) => address.city)),
  ),
  query(
    'groups by CASE',
    `SELECT CASE WHEN total >= 300 THEN 'big' WHEN total >= 100 THEN 'middle' ELSE 'small' END AS size, count(*) FROM "order" GROUP BY 1 ORDER BY size LIMIT 1`,
    ['big', all.filter(({ total }) => total >= 300).length],
  ),
  query(
    'groups into buckets',
    'SELECT width_bucket(total, 0, 1000, 10) AS b, count(*) FROM "order" GROUP BY b',
    distinct(all.map(({ total }) => Math.min(Math.floor(total / 100), 10))),
  ),
  query(
    'orders by an aggregate',
    'SELECT country FROM customer GROUP BY country ORDER BY count(*) DESC, country LIMIT 3',
    3,
  ),
  query(
    'groups by extracted parts',
    'SELECT extract(month FROM placed_at) AS m, sum(total) FROM "order" GROUP BY m',
    12,
  ),
  query(
    'counts per weekday',
    'SELECT extract(isodow FROM placed_at)::int AS d, count(*) FROM "order" GROUP BY 1',
    7,
  ),
]

const FILTERING: Honest[] = [
  query(
    'compares a number',
    'SELECT id FROM "order" WHERE total > 250',
    all.filter(({ total }) => total > 250).length,
  ),
  query('compares an integer', 'SELECT id FROM "order" WHERE number <= 1010', 10),
  query(
    'compares a text',
    `SELECT id FROM customer WHERE country = 'DE'`,
    people.filter(({ country }) => country === 'DE').length,
  ),
  query(
    'compares unequal',
    `SELECT id FROM customer WHERE country <> 'DE' AND country != 'FR'`,
    people.filter(({ country }) => country !== 'DE' && country !== 'FR').length,
  ),
  query('reads a boolean', 'SELECT id FROM "order" WHERE NOT paid', 200 - paid.length),
  query(
    'asks IS TRUE',
    'SELECT id FROM customer WHERE vip IS TRUE',
    people.filter(({ vip }) => vip === true).length,
  ),
  query(
    'asks IS NOT TRUE',
    'SELECT id FROM customer WHERE vip IS NOT TRUE',
    people.filter(({ vip }) => vip !== true).length,
  ),
  query(
    'asks IS NULL',
    'SELECT id FROM customer WHERE vip IS NULL',
    people.filter(({ vip }) => vip === null).length,
  ),
  query('asks IS NOT NULL', 'SELECT id FROM "order" WHERE ship_date IS NOT NULL', shipped.length),
  query(
    'asks IS UNKNOWN',
    'SELECT id FROM customer WHERE vip IS UNKNOWN',
    people.filter(({ vip }) => vip === null).length,
  ),
  query(
    'takes a range',
    'SELECT id FROM "order" WHERE total BETWEEN 100 AND 200',
    all.filter(({ total }) => total >= 100 && total <= 200).length,
  ),
  query(
    'takes what is outside a range',
    'SELECT id FROM "order" WHERE total NOT BETWEEN 100 AND 200',
    all.filter(({ total }) => total < 100 || total > 200).length,
  ),
  query(
    'takes a range either way',
    'SELECT id FROM "order" WHERE number BETWEEN SYMMETRIC 1010 AND 1001',
    10,
  ),
  query(
    'takes one of a list',
    `SELECT id FROM customer WHERE country IN ('DE', 'FR')`,
    people.filter(({ country }) => ['DE', 'FR'].includes(country)).length,
  ),
  query(
    'takes what is not in a list',
    `SELECT id FROM customer WHERE country NOT IN ('DE', 'FR')`,
    people.filter(({ country }) => !['DE', 'FR'].includes(country)).length,
  ),
  query(
    'matches a prefix',
    `SELECT id FROM "Product.v2" WHERE title LIKE 'Red%'`,
    goods.filter(({ title }) => title.startsWith('Red')).length,
  ),
  query(
    'matches without case',
    `SELECT id FROM "Product.v2" WHERE title ILIKE '%WIDGET%'`,
    goods.filter(({ title }) => title.includes('Widget')).length,
  ),
  query('matches with ESCAPE', `SELECT count(*) FROM "Product.v2" WHERE title LIKE 'Red!_%' ESCAPE '!'`, [0]),
  query('matches a pattern', `SELECT id FROM customer WHERE email ~ '^c0[1-5]@'`, 5),
  query(
    'matches a pattern without case',
    `SELECT id FROM "Product.v2" WHERE title ~* 'lamp'`,
    goods.filter(({ title }) => title.includes('Lamp')).length,
  ),
  query(
    'does not match a pattern',
    `SELECT id FROM "Product.v2" WHERE title !~ 'Lamp'`,
    goods.filter(({ title }) => !title.includes('Lamp')).length,
  ),
  query(
    'nests AND, OR and NOT',
    `SELECT id FROM "order" WHERE (paid OR total < 100) AND NOT (total > 400)`,
    all.filter((o) => (o.paid || o.total < 100) && !(o.total > 400)).length,
  ),
  query('compares rows', `SELECT id FROM "order" WHERE (number, id) <= (1005, 'o005')`, 5),
  query(
    'asks IS DISTINCT FROM',
    'SELECT id FROM customer WHERE vip IS DISTINCT FROM true',
    people.filter(({ vip }) => vip !== true).length,
  ),
  query(
    'asks IS NOT DISTINCT FROM',
    'SELECT id FROM customer WHERE vip IS NOT DISTINCT FROM NULL',
    people.filter(({ vip }) => vip === null).length,
  ),
  query(
    'compares a time with a text',
    `SELECT id FROM "order" WHERE placed_at >= '2025-07-01'`,
    all.filter(({ placed_at }) => placed_at >= '2025-07-01').length,
  ),
  query(
    'compares a time with a literal',
    `SELECT id FROM "order" WHERE placed_at < timestamptz '2025-03-01 00:00:00Z'`,
    all.filter(({ placed_at }) => placed_at < '2025-03-01').length,
  ),
  query(
    'compares a date',
    `SELECT id FROM customer WHERE since >= date '2022-01-01'`,
    people.filter(({ since }) => since >= '2022-01-01').length,
  ),
  query(
    'takes a half-open range of time',
    `SELECT id FROM "order" WHERE placed_at >= '2025-03-01' AND placed_at < '2025-04-01'`,
    all.filter((o) => month(o) === '2025-03').length,
  ),
  query('orders nulls first', 'SELECT ship_date FROM "order" ORDER BY ship_date NULLS FIRST LIMIT 1', [null]),
  query(
    'orders nulls last',
    'SELECT ship_date IS NULL FROM "order" ORDER BY ship_date DESC NULLS LAST LIMIT 1',
    [false],
  ),
  query('limits', 'SELECT id FROM "order" ORDER BY id LIMIT 7', 7),
  query('limits and skips', 'SELECT id FROM "order" ORDER BY id LIMIT 3 OFFSET 5', ['o006']),
  query('fetches first', 'SELECT id FROM "order" ORDER BY id FETCH FIRST 2 ROWS ONLY', 2),
  query(
    'keeps ties by rank',
    'SELECT country FROM (SELECT country, rank() OVER (ORDER BY country) AS r FROM customer) AS x WHERE r <= 1',
    people.filter(({ country }) => country === people.map((p) => p.country).sort()[0]).length,
  ),
  query('takes LIMIT ALL', 'SELECT id FROM customer LIMIT ALL', 40),
  query('orders by an expression', 'SELECT id FROM "order" ORDER BY total * -1, id LIMIT 1', [top?.id]),
  query('orders with a collation', 'SELECT id FROM customer ORDER BY name COLLATE "C" DESC LIMIT 1', ['c40']),
  query(
    'begins with',
    `SELECT count(*) FROM customer WHERE starts_with(email, 'c01') OR email ^@ 'c02'`,
    [2],
  ),
  query(
    'compares with every value',
    'SELECT id FROM "order" WHERE total >= ALL (SELECT total FROM "order") ORDER BY id LIMIT 1',
    [top?.id],
  ),
  query('likes any', `SELECT count(*) FROM "Product.v2" WHERE title LIKE ANY (ARRAY['Red%', 'Blue%'])`, [
    goods.filter(({ title }) => /^(Red|Blue)/.test(title)).length,
  ]),
]

const JOINING: Honest[] = [
  query('joins', 'SELECT o.id, c.name FROM "order" o JOIN customer c ON c.id = o.customer', 200),
  query(
    'joins with sums',
    'SELECT c.country, sum(o.total) FROM "order" o JOIN customer c ON c.id = o.customer GROUP BY c.country',
    distinct(all.map(({ customer }) => people.find(({ id }) => id === customer)?.country)),
  ),
  query(
    'left joins',
    'SELECT c.id, count(o.id) FROM customer c LEFT JOIN "order" o ON o.customer = c.id GROUP BY c.id',
    40,
  ),
  query(
    'right joins',
    'SELECT c.id FROM "order" o RIGHT JOIN customer c ON c.id = o.customer WHERE o.id IS NULL',
    40 - spend.size,
  ),
  query('full joins', 'SELECT count(*) FROM customer a FULL JOIN "Product.v2" b ON a.id = b.id', [70]),
  query('cross joins', 'SELECT count(*) FROM customer CROSS JOIN "Product.v2"', [1200]),
  query('joins by a comma', 'SELECT count(*) FROM customer c, "order" o WHERE o.customer = c.id', [200]),
  query('joins by USING', 'SELECT count(*) FROM customer a JOIN customer b USING (id)', [40]),
  query(
    'merges the column of USING',
    'SELECT id, a.name FROM customer a JOIN customer b USING (id) ORDER BY id LIMIT 1',
    ['c01', 'Customer 01'],
  ),
  query(
    'joins naturally',
    'SELECT count(*) FROM (SELECT id, name FROM customer) a NATURAL JOIN (SELECT id, email FROM customer) b',
    [40],
  ),
  query(
    'joins three',
    `SELECT count(*) FROM "order" o JOIN customer c ON c.id = o.customer CROSS JOIN LATERAL jsonb_array_elements(o.lines) l JOIN "Product.v2" p ON p.sku = l->>'sku'`,
    [lines.length],
  ),
  query('joins itself', 'SELECT count(*) FROM "order" a JOIN "order" b ON a.number = b.number + 1', [199]),
  query(
    'joins a parenthesised join',
    'SELECT count(*) FROM customer c LEFT JOIN ("order" o JOIN customer x ON x.id = o.customer) ON o.customer = c.id WHERE o.id IS NOT NULL',
    [200],
  ),
  query(
    'names a join',
    'SELECT j.id FROM (customer a JOIN (SELECT id AS b_id FROM customer) b ON b.b_id = a.id) AS j ORDER BY j.id LIMIT 1',
    ['c01'],
  ),
  query(
    'names a USING',
    'SELECT u.id FROM customer a JOIN customer b USING (id) AS u ORDER BY u.id LIMIT 1',
    ['c01'],
  ),
  query(
    'joins laterally',
    'SELECT c.id, last.id FROM customer c CROSS JOIN LATERAL (SELECT o.id FROM "order" o WHERE o.customer = c.id ORDER BY o.placed_at DESC LIMIT 1) AS last',
    spend.size,
  ),
  query(
    'left joins laterally',
    'SELECT c.id, last.total FROM customer c LEFT JOIN LATERAL (SELECT o.total FROM "order" o WHERE o.customer = c.id ORDER BY o.placed_at DESC LIMIT 1) AS last ON true',
    40,
  ),
  query('renames columns of a relation', 'SELECT c.a FROM customer AS c (a, b) ORDER BY c.a LIMIT 1', [
    'c01',
  ]),
  query(
    'joins on several conditions',
    'SELECT count(*) FROM "order" a JOIN "order" b ON a.customer = b.customer AND a.id < b.id',
    [sum([...spend.values()].map((own) => (own.length * (own.length - 1)) / 2))],
  ),
  query(
    'anti-joins',
    'SELECT count(*) FROM customer c WHERE NOT EXISTS (SELECT 1 FROM "order" o WHERE o.customer = c.id)',
    [40 - spend.size],
  ),
  query(
    'joins grouped subqueries',
    'SELECT count(*) FROM customer c JOIN (SELECT customer, count(*) AS n FROM "order" GROUP BY customer) s ON s.customer = c.id WHERE s.n > 1',
    [[...spend.values()].filter((own) => own.length > 1).length],
  ),
]

const NESTING: Honest[] = [
  query(
    'selects from a subquery',
    'SELECT sum(n) FROM (SELECT count(*) AS n FROM "order" GROUP BY customer) AS x',
    [200],
  ),
  query('selects from a subquery without an alias', 'SELECT count(*) FROM (SELECT id FROM customer)', [40]),
  query('names a column by its function', 'SELECT x.count FROM (SELECT count(*) FROM customer) AS x', [40]),
  query(
    'names a column by its CASE and cast',
    `SELECT x."case", x.int4 FROM (SELECT CASE WHEN true THEN 1 END, '5'::int) AS x`,
    [1, 5],
  ),
  query('names a column by coalesce', 'SELECT x.coalesce FROM (SELECT coalesce(1, 2)) x', [1]),
  query(
    'takes a scalar subquery',
    'SELECT count(*) FROM "order" WHERE total > (SELECT avg(total) FROM "order")',
    [all.filter(({ total }) => total > TOTAL / 200).length],
  ),
  query(
    'takes a correlated subquery',
    'SELECT c.id, (SELECT count(*) FROM "order" o WHERE o.customer = c.id) AS n FROM customer c ORDER BY n DESC, c.id LIMIT 1',
    [
      [...spend].sort(([a, x], [b, y]) => y.length - x.length || (a < b ? -1 : 1))[0]?.[0],
      most([...spend.values()].map((own) => own.length)),
    ],
  ),
  query(
    'asks EXISTS',
    'SELECT count(*) FROM customer c WHERE EXISTS (SELECT FROM "order" o WHERE o.customer = c.id)',
    [spend.size],
  ),
  query('asks IN a subquery', 'SELECT count(*) FROM customer WHERE id IN (SELECT customer FROM "order")', [
    spend.size,
  ]),
  query(
    'asks ANY of a subquery',
    'SELECT count(*) FROM customer WHERE id = ANY (SELECT customer FROM "order" WHERE paid)',
    [distinct(paid.map(({ customer }) => customer))],
  ),
  query(
    'asks NOT IN a subquery',
    'SELECT count(*) FROM customer WHERE id NOT IN (SELECT customer FROM "order")',
    [40 - spend.size],
  ),
  query('makes an array of a subquery', 'SELECT cardinality(ARRAY(SELECT id FROM customer))', [40]),
  query('reads a WITH', 'WITH big AS (SELECT * FROM "order" WHERE total > 300) SELECT count(*) FROM big', [
    all.filter(({ total }) => total > 300).length,
  ]),
  query(
    'reads a WITH twice',
    'WITH s AS (SELECT customer, sum(total) t FROM "order" GROUP BY 1) SELECT count(*) FROM s a JOIN s b ON a.t > b.t OR a.customer = b.customer',
    [
      sum(
        bestSpend.map((a) => bestSpend.filter((b) => a.total > b.total || a.customer === b.customer).length),
      ),
    ],
  ),
  query(
    'chains WITH',
    'WITH a AS (SELECT customer FROM "order" WHERE paid), b AS (SELECT DISTINCT customer FROM a) SELECT count(*) FROM b',
    [distinct(paid.map(({ customer }) => customer))],
  ),
  query(
    'names the columns of WITH',
    "WITH a (x, y) AS (SELECT id, name FROM customer) SELECT y FROM a WHERE x = 'c01'",
    ['Customer 01'],
  ),
  query(
    'materializes a WITH',
    'WITH a AS MATERIALIZED (SELECT id FROM customer) SELECT count(*) FROM a',
    [40],
  ),
  query('hides a relation by WITH', `WITH customer AS (SELECT 1 AS one) SELECT one FROM customer`, [1]),
  query(
    'sees the relation within a WITH of its name',
    'WITH customer AS (SELECT * FROM customer WHERE vip) SELECT count(*) FROM customer',
    [people.filter(({ vip }) => vip).length],
  ),
  query('nests WITH', 'SELECT * FROM (WITH x AS (SELECT 5 AS n) SELECT n FROM x) y', [5]),
  query(
    'recurses',
    'WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 10) SELECT sum(n) FROM t',
    [55],
  ),
  query(
    'recurses from VALUES',
    'WITH RECURSIVE t (n) AS (VALUES (1) UNION SELECT n * 2 FROM t WHERE n < 100) SELECT max(t.n) FROM t',
    [128],
  ),
  query(
    'recurses over a calendar',
    `WITH RECURSIVE d AS (SELECT date '2025-01-01' AS day UNION ALL SELECT day + 1 FROM d WHERE day < date '2025-01-31') SELECT count(*) FROM d`,
    [31],
  ),
  query(
    'recurses along records',
    `WITH RECURSIVE chain AS (SELECT id, number, 1 AS depth FROM "order" WHERE number = 1001 UNION ALL SELECT o.id, o.number, c.depth + 1 FROM "order" o JOIN chain c ON o.number = c.number + 1 WHERE c.depth < 20) SELECT max(depth), max(id) FROM chain`,
    [20, 'o020'],
  ),
  query(
    'correlates two levels deep',
    'SELECT count(*) FROM customer c WHERE (SELECT count(*) FROM "order" o WHERE o.customer = c.id AND EXISTS (SELECT 1 FROM "order" p WHERE p.customer = c.id AND p.id <> o.id)) > 1',
    [[...spend.values()].filter((own) => own.length > 1).length],
  ),
  query('reads VALUES', `SELECT v.b FROM (VALUES (1, 'x'), (2, 'y')) AS v (a, b) WHERE v.a = 2`, ['y']),
  query('is VALUES', 'VALUES (1, 2), (3, 4)', 2),
  query('names the columns of VALUES', 'SELECT column2 FROM (VALUES (1, 2)) AS v', [2]),
  query(
    'joins VALUES',
    `SELECT sum(w) FROM customer c JOIN (VALUES ('DE', 1), ('FR', 2)) AS v (country, w) ON v.country = c.country`,
    [sum(people.map(({ country }) => (country === 'DE' ? 1 : country === 'FR' ? 2 : 0)))],
  ),
  query('unites', 'SELECT id FROM customer UNION ALL SELECT id FROM "Product.v2"', 70),
  query(
    'unites distinctly',
    'SELECT country FROM customer UNION SELECT address->>\'country\' FROM "order"',
    5,
  ),
  query('intersects', 'SELECT id FROM customer INTERSECT SELECT customer FROM "order"', spend.size),
  query(
    'excepts',
    'SELECT id FROM customer EXCEPT SELECT customer FROM "order" ORDER BY id',
    40 - spend.size,
  ),
  query(
    'orders a union',
    'SELECT id AS k FROM customer UNION ALL SELECT id FROM "Product.v2" ORDER BY k DESC LIMIT 1',
    ['p30'],
  ),
  query('nests set operations', '(SELECT 1 UNION SELECT 2) EXCEPT (SELECT 2 UNION SELECT 3)', [1]),
  query('is TABLE', 'TABLE customer', 40),
  query('selects a star', 'SELECT * FROM customer', 40),
  query(
    'selects the star of an alias',
    'SELECT c.* FROM customer c JOIN "order" o ON o.customer = c.id',
    200,
  ),
  query('selects nothing but a constant', 'SELECT 1 + 1', [2]),
]

const WINDOWS: Honest[] = [
  query(
    'numbers rows',
    'SELECT id, row_number() OVER (ORDER BY total DESC, id) FROM "order" ORDER BY 2 LIMIT 1',
    [top?.id, 1],
  ),
  query(
    'ranks within groups',
    'SELECT count(*) FROM (SELECT rank() OVER (PARTITION BY customer ORDER BY total DESC) AS r FROM "order") x WHERE r = 1',
    [
      sum(
        [...spend.values()].map(
          (own) => own.filter(({ total }) => total === most(own.map((o) => o.total))).length,
        ),
      ),
    ],
  ),
  query(
    'runs a total',
    'SELECT sum(total) OVER (ORDER BY number) AS run FROM "order" ORDER BY run DESC LIMIT 1',
    [TOTAL],
  ),
  query(
    'looks back',
    'SELECT number - lag(number) OVER (ORDER BY number) AS d FROM "order" ORDER BY number OFFSET 1 LIMIT 1',
    [1],
  ),
  query(
    'looks ahead with a default',
    'SELECT lead(number, 1, 0) OVER (ORDER BY number) FROM "order" ORDER BY number DESC LIMIT 1',
    [0],
  ),
  query(
    'takes the first and last',
    'SELECT first_value(id) OVER w, last_value(id) OVER w FROM "order" WINDOW w AS (ORDER BY number ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) LIMIT 1',
    ['o001', 'o200'],
  ),
  query(
    'averages over a frame',
    'SELECT count(*) OVER (ORDER BY number ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM "order" ORDER BY number OFFSET 5 LIMIT 1',
    [3],
  ),
  query(
    'frames by time',
    `SELECT count(*) OVER (ORDER BY placed_at RANGE BETWEEN interval '7 days' PRECEDING AND CURRENT ROW) FROM "order" ORDER BY placed_at, id LIMIT 1`,
    [1],
  ),
  query(
    'splits into quarters',
    'SELECT count(*) FROM (SELECT ntile(4) OVER (ORDER BY total) q FROM "order") x WHERE q = 1',
    [50],
  ),
  query(
    'shares of a whole',
    'SELECT round(sum(share)) FROM (SELECT total / sum(total) OVER () AS share FROM "order") x',
    [1],
  ),
  query(
    'ranks densely',
    'SELECT max(r) FROM (SELECT dense_rank() OVER (ORDER BY customer) AS r FROM "order") x',
    [spend.size],
  ),
  query('filters within a window', 'SELECT count(*) FILTER (WHERE paid) OVER () FROM "order" LIMIT 1', [
    paid.length,
  ]),
  query(
    'names and extends a window',
    'SELECT sum(total) OVER (w ORDER BY number) FROM "order" WINDOW w AS (PARTITION BY customer) LIMIT 1',
    1,
  ),
  query(
    'takes the top of each group',
    'SELECT customer, id FROM (SELECT o.*, row_number() OVER (PARTITION BY o.customer ORDER BY o.total DESC, o.id) AS n FROM "order" o) r WHERE r.n = 1',
    spend.size,
  ),
  query(
    'windows over groups',
    `SELECT m, sum(n) OVER (ORDER BY m) FROM (SELECT date_trunc('month', placed_at) AS m, count(*) AS n FROM "order" GROUP BY 1) x ORDER BY m DESC LIMIT 1`,
    1,
  ),
  query(
    'excludes the current row',
    'SELECT count(*) OVER (ORDER BY number ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW) FROM "order" ORDER BY number OFFSET 3 LIMIT 1',
    [2],
  ),
  query(
    'takes the nth value',
    'SELECT nth_value(id, 2) OVER (ORDER BY number ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM "order" LIMIT 1',
    ['o002'],
  ),
  query(
    'distributes cumulatively',
    'SELECT max(cume_dist) FROM (SELECT cume_dist() OVER (ORDER BY total) FROM "order") x',
    [1],
  ),
]

const JSON_QUERIES: Honest[] = [
  query('reads a key of json', `SELECT address->>'city' FROM "order" WHERE id = 'o001'`, [
    all[0]?.address.city,
  ]),
  query('reads through data', `SELECT data->>'status' FROM "order" WHERE id = 'o001'`, [all[0]?.status]),
  query('filters on data', `SELECT count(*) FROM "order" WHERE data->>'status' = 'shipped'`, [
    of('shipped').length,
  ]),
  query('reads a path', `SELECT attributes #>> '{size,w}' FROM "Product.v2" WHERE id = 'p01'`, [
    String(goods[0]?.attributes.size.w),
  ]),
  query('reads an element', `SELECT lines->0->>'sku' FROM "order" WHERE id = 'o001'`, [
    all[0]?.lines[0]?.sku,
  ]),
  query('subscripts json', `SELECT attributes['color'] FROM "Product.v2" WHERE id = 'p01'`, [
    goods[0]?.attributes.color,
  ]),
  query('casts a json number', `SELECT sum((attributes->>'weight')::numeric) FROM "Product.v2"`, [
    sum(goods.map(({ attributes }) => attributes.weight)),
  ]),
  query('casts json directly', `SELECT max((attributes->'weight')::numeric) FROM "Product.v2"`, [
    most(goods.map(({ attributes }) => attributes.weight)),
  ]),
  query('contains', `SELECT count(*) FROM "order" WHERE tags @> '["gift"]'`, [tagged('gift').length]),
  query('has a key', `SELECT count(*) FROM "order" WHERE tags ? 'rush'`, [tagged('rush').length]),
  query('has any key', `SELECT count(*) FROM "order" WHERE tags ?| ARRAY['rush', 'gift']`, [
    all.filter(({ tags }) => tags.includes('rush') || tags.includes('gift')).length,
  ]),
  query('has all keys', `SELECT count(*) FROM "order" WHERE tags ?& ARRAY['rush', 'gift']`, [
    all.filter(({ tags }) => tags.includes('rush') && tags.includes('gift')).length,
  ]),
  query(
    'is contained',
    `SELECT count(*) FROM "order" WHERE tags <@ '["gift", "rush", "b2b", "promo"]'`,
    [200],
  ),
  query('matches a jsonpath', `SELECT count(*) FROM "order" WHERE lines @? '$[*] ? (@.qty > 4)'`, [
    all.filter((o) => o.lines.some(({ qty }) => qty > 4)).length,
  ]),
  query('asks a jsonpath predicate', `SELECT count(*) FROM "order" WHERE lines @@ '$[0].qty == 1'`, [
    all.filter((o) => o.lines[0]?.qty === 1).length,
  ]),
  query('queries by jsonpath', `SELECT count(*) FROM "order" o, jsonb_path_query(o.lines, '$[*].sku') AS s`, [
    lines.length,
  ]),
  query(
    'takes the first of a jsonpath',
    `SELECT jsonb_path_query_first(lines, '$[*].qty') FROM "order" WHERE id = 'o001'`,
    [all[0]?.lines[0]?.qty],
  ),
  query(
    'passes variables to a jsonpath',
    `SELECT count(*) FROM "order" WHERE jsonb_path_exists(lines, '$[*] ? (@.qty > $min)', '{"min": 4}')`,
    [all.filter((o) => o.lines.some(({ qty }) => qty > 4)).length],
  ),
  query('unrolls an array', 'SELECT count(*) FROM "order" o, jsonb_array_elements(o.lines) AS l', [
    lines.length,
  ]),
  query(
    'sums unrolled lines',
    `SELECT sum((l->>'qty')::int * (l->>'price')::numeric) FROM "order" o CROSS JOIN LATERAL jsonb_array_elements(o.lines) AS l`,
    [TOTAL],
  ),
  query(
    'names an unrolled value',
    `SELECT l.value->>'sku' AS sku, count(*) FROM "order", jsonb_array_elements(lines) AS l GROUP BY 1`,
    distinct(lines.map(({ sku }) => sku)),
  ),
  query(
    'unrolls texts',
    'SELECT tag, count(*) FROM "order", jsonb_array_elements_text(tags) AS tag GROUP BY tag',
    4,
  ),
  query('unrolls texts in the list', 'SELECT DISTINCT jsonb_array_elements_text(tags) FROM "order"', 4),
  query(
    'unrolls with positions',
    `SELECT count(*) FROM "order" o, jsonb_array_elements(o.lines) WITH ORDINALITY AS l (line, n) WHERE n = 1`,
    [200],
  ),
  query(
    'unrolls as a record set',
    `SELECT sum(x.qty) FROM "order" o, jsonb_to_recordset(o.lines) AS x (sku text, qty int, price numeric)`,
    [sum(lines.map(({ qty }) => qty))],
  ),
  query(
    'unrolls an object',
    `SELECT e.key FROM "order" o, jsonb_each(o.address) AS e WHERE o.id = 'o001' ORDER BY e.key`,
    ['city'],
  ),
  query(
    'unrolls an object as texts',
    `SELECT value FROM "order" o, jsonb_each_text(o.address) WHERE o.id = 'o001' AND key = 'city'`,
    [all[0]?.address.city],
  ),
  query('lists keys', `SELECT jsonb_object_keys(address) AS k FROM "order" WHERE id = 'o001'`, 3),
  query('lists keys in FROM', `SELECT DISTINCT k FROM "order" o, jsonb_object_keys(o.address) AS k`, 3),
  query('counts elements', 'SELECT sum(jsonb_array_length(lines)) FROM "order"', [lines.length]),
  query('asks the type of json', `SELECT DISTINCT jsonb_typeof(lines) FROM "order"`, ['array']),
  query('builds json', `SELECT jsonb_build_object('id', id, 'total', total) FROM "order" WHERE id = 'o001'`, [
    { id: 'o001', total: all[0]?.total },
  ]),
  query(
    'builds json of a row',
    `SELECT to_jsonb(x)->>'id' FROM (SELECT id, name FROM customer) x ORDER BY 1 LIMIT 1`,
    ['c01'],
  ),
  query('gathers rows as json', `SELECT jsonb_array_length(jsonb_agg(c)) FROM customer c`, [40]),
  query('joins json', `SELECT ('{"a": 1}'::jsonb || '{"b": 2}'::jsonb)->>'b'`, ['2']),
  query('takes from json', `SELECT '{"a": 1, "b": 2}'::jsonb - 'a'`, [{ b: 2 }]),
  query('compares json', `SELECT count(*) FROM "order" WHERE tags = '[]'::jsonb`, [
    all.filter(({ tags }) => tags.length === 0).length,
  ]),
  query('reads null as null', `SELECT count(*) FROM "order" WHERE data->>'ship_date' IS NULL`, [
    200 - shipped.length,
  ]),
  query(
    'extracts by path',
    `SELECT jsonb_extract_path_text(attributes, 'size', 'h') FROM "Product.v2" WHERE id = 'p01'`,
    [String(goods[0]?.attributes.size.h)],
  ),
  query('sets a key in the answer', `SELECT jsonb_set('{"a": 1}', '{a}', '2')`, [{ a: 2 }]),
]

const TEXTS_AND_TIMES: Honest[] = [
  query('joins with ||', `SELECT name || ' <' || email || '>' FROM customer WHERE id = 'c01'`, [
    `Customer 01 <${people[0]?.email}>`,
  ]),
  query('joins with concat', `SELECT concat(id, '-', 1, NULL) FROM customer ORDER BY id LIMIT 1`, ['c01-1']),
  query(
    'changes case',
    `SELECT upper(name), lower(name), initcap('ab cd'), length(name) FROM customer WHERE id = 'c01'`,
    ['CUSTOMER 01', 'customer 01', 'Ab Cd', 11],
  ),
  query(
    'splits',
    `SELECT split_part(email, '@', 2), count(*) FROM customer GROUP BY 1`,
    distinct(people.map(({ email }) => email.split('@')[1])),
  ),
  query(
    'takes a part',
    `SELECT substring(name FROM 1 FOR 8), substr(name, 10), left(name, 3), right(name, 2) FROM customer WHERE id = 'c01'`,
    ['Customer', '01', 'Cus', '01'],
  ),
  query('takes a part by pattern', `SELECT substring(email FROM '@(.*)$') FROM customer WHERE id = 'c01'`, [
    people[0]?.email.split('@')[1],
  ]),
  query(
    'finds a place',
    `SELECT position('@' IN email), strpos(email, '@') FROM customer WHERE id = 'c01'`,
    [4, 4],
  ),
  query('trims', `SELECT trim('  x  '), trim(LEADING '0' FROM '007'), rtrim('xx', 'x')`, ['x', '7', '']),
  query('replaces', `SELECT replace('a-b-c', '-', '+'), translate('abc', 'ab', 'xy'), reverse('abc')`, [
    'a+b+c',
    'xyc',
    'cba',
  ]),
  query('replaces by pattern', `SELECT regexp_replace('a1b22', '[0-9]+', '#', 'g')`, ['a#b#']),
  query('overlays', `SELECT overlay('abcdef' PLACING 'X' FROM 2 FOR 3)`, ['aXef']),
  query('pads', `SELECT lpad('7', 3, '0'), rpad('x', 3, '.')`, ['007', 'x..']),
  query('repeats', `SELECT repeat('-', 5)`, ['-----']),
  query(
    'splits to an array',
    `SELECT (string_to_array('a,b,c', ','))[2], array_to_string(ARRAY[1, 2], '/')`,
    ['b', '1/2'],
  ),
  query('hashes', `SELECT md5('a')`, ['0cc175b9c0f1b6a831c399e269772661']),
  query('quotes a quote', `SELECT 'it''s', "name" FROM customer WHERE id = 'c01'`, ["it's", 'Customer 01']),
  query('escapes', `SELECT E'a\\nb', U&'\\0041'`, ['a\nb', 'A']),
  query('quotes with dollars', `SELECT $$it's :x$$, $q$a$$b$q$`, ["it's :x", 'a$$b']),
  query('ignores comments', `SELECT 1 -- :x $1 ; DROP TABLE x\n /* ; :y */ + 1`, [2]),
  query('ends with a semicolon', 'SELECT 1;', [1]),
  query(
    'rounds',
    'SELECT round(2.567, 2), floor(2.7), ceil(2.1), trunc(2.9), abs(-3), 7 % 3, mod(7, 3), 7 / 2, power(2, 3), sqrt(16), 2 ^ 3',
    [2.57, 2, 3, 2, 3, 1, 1, 3, 8, 4, 8],
  ),
  query(
    'takes greatest and least',
    'SELECT greatest(1, 3, 2), least(1, 3, 2), coalesce(NULL, 5), nullif(1, 1)',
    [3, 1, 5, null],
  ),
  query('works on bits', 'SELECT 6 & 3, 6 | 1, 6 # 3, ~1, 1 << 3, 16 >> 2', [2, 7, 5, -2, 8, 4]),
  query(
    'casts',
    `SELECT '5'::int, CAST('2.5' AS numeric), 3::text, 'true'::boolean, 2.0::double precision, '1'::bigint`,
    [5, 2.5, '3', true, 2, 1],
  ),
  query('casts a type with modifiers', `SELECT 2.567::numeric(10, 1), 'abcdef'::varchar(3)`, [2.6, 'abc']),
  query(
    'extracts',
    `SELECT extract(year FROM placed_at)::int, date_part('month', placed_at) FROM "order" WHERE id = 'o001'`,
    [2025, Number(all[0]?.placed_at.slice(5, 7))],
  ),
  query('formats a time', `SELECT to_char(placed_at, 'YYYY-MM-DD') FROM "order" WHERE id = 'o001'`, [
    all[0]?.placed_at.slice(0, 10),
  ]),
  query('casts to a date', `SELECT placed_at::date FROM "order" WHERE id = 'o001'`, [
    all[0]?.placed_at.slice(0, 10),
  ]),
  query('calls date', `SELECT date(placed_at) FROM "order" WHERE id = 'o001'`, [
    all[0]?.placed_at.slice(0, 10),
  ]),
  query(
    'changes the zone',
    `SELECT extract(hour FROM timestamptz '2025-07-01 12:00Z' AT TIME ZONE 'Europe/Berlin')::int`,
    [14],
  ),
  query('adds an interval', `SELECT (date '2025-01-31' + interval '1 month')::date, date '2025-01-01' + 7`, [
    '2025-02-28',
    '2025-01-08',
  ]),
  query('subtracts dates', `SELECT date '2025-03-01' - date '2025-02-01'`, [28]),
  query('takes a duration', `SELECT count(*) FROM "order" WHERE ship_date - placed_at::date > 3`, [
    shipped.filter(
      (o) => (Date.parse(o.ship_date ?? '') - Date.parse(o.placed_at.slice(0, 10))) / 86_400_000 > 3,
    ).length,
  ]),
  query(
    'compares with now',
    'SELECT count(*) FROM "order" WHERE placed_at < now() AND placed_at < current_timestamp',
    [200],
  ),
  query('compares with today', `SELECT count(*) FROM "order" WHERE placed_at::date <= current_date`, [200]),
  query(
    'counts back from now',
    `SELECT count(*) >= 0 FROM "order" WHERE placed_at > now() - interval '30 days'`,
    [true],
  ),
  query(
    'takes an age',
    `SELECT extract(year FROM age(timestamptz '2025-06-01', timestamptz '2020-01-01'))::int`,
    [5],
  ),
  query('makes a date', `SELECT make_date(2025, 2, 3), to_date('03.02.2025', 'DD.MM.YYYY')`, [
    '2025-02-03',
    '2025-02-03',
  ]),
  query('makes an interval', `SELECT (date '2025-01-01' + make_interval(days => 3))::date`, ['2025-01-04']),
  query(
    'overlaps',
    `SELECT (date '2025-01-01', date '2025-02-01') OVERLAPS (date '2025-01-15', date '2025-03-01')`,
    [true],
  ),
  query(
    'truncates to weeks',
    `SELECT count(*) FROM (SELECT date_trunc('week', placed_at) FROM "order" GROUP BY 1) w WHERE true`,
    [distinct(all.map(({ placed_at }) => Math.floor((Date.parse(placed_at) / 86_400_000 + 3) / 7)))],
  ),
  query(
    'bins times',
    `SELECT count(DISTINCT date_bin('1 day', placed_at, timestamptz '2025-01-01Z')) FROM "order"`,
    [distinct(all.map(({ placed_at }) => placed_at.slice(0, 10)))],
  ),
  query('counts in a series', 'SELECT sum(n) FROM generate_series(1, 10) AS n', [55]),
  query(
    'steps through days',
    `SELECT count(*) FROM generate_series(date '2025-01-01', date '2025-12-31', interval '1 day') AS d`,
    [365],
  ),
  query('steps back', 'SELECT max(n) FROM generate_series(10, 1, -3) AS g (n)', [10]),
  query(
    'fills months',
    `SELECT m::date, count(o.id) FROM generate_series(timestamptz '2025-01-01Z', timestamptz '2025-12-01Z', interval '1 month') AS m LEFT JOIN "order" o ON date_trunc('month', o.placed_at) = m GROUP BY 1 ORDER BY 1`,
    ['2025-01-01', all.filter((o) => month(o) === '2025-01').length],
  ),
  query(
    'steps through the last days',
    `SELECT count(*) FROM generate_series(current_date - 29, current_date, interval '1 day') d`,
    [30],
  ),
  query(
    'works on arrays',
    'SELECT (ARRAY[1, 2, 3])[2] IS NULL, cardinality(ARRAY[1, 2]), 2 = ANY (ARRAY[1, 2]), ARRAY[1] || 2, array_position(ARRAY[5, 6], 6)',
    [false, 2, true, [1, 2], 2],
  ),
  query('slices an array', `SELECT (array_agg(id ORDER BY id))[1:2] FROM customer`, [['c01', 'c02']]),
  query('takes the first of an array', `SELECT (array_agg(id ORDER BY total DESC, id))[1] FROM "order"`, [
    top?.id,
  ]),
  query('unnests', `SELECT u FROM unnest(ARRAY['b', 'a']) AS u ORDER BY u`, ['a']),
  query('unnests two', `SELECT a, b FROM unnest(ARRAY[1, 2], ARRAY['x', 'y']) AS t (a, b) ORDER BY a DESC`, [
    2,
    'y',
  ]),
  query(
    'takes rows from functions',
    'SELECT count(*) FROM ROWS FROM (generate_series(1, 3), unnest(ARRAY[1, 2])) AS r (a, b)',
    [3],
  ),
  query('overlaps arrays', 'SELECT ARRAY[1, 2] && ARRAY[2, 3], ARRAY[1, 2] @> ARRAY[1]', [true, true]),
]

const PARAMETERS: Honest[] = [
  query(
    'takes a number',
    'SELECT count(*) FROM "order" WHERE total > $1',
    [all.filter(({ total }) => total > 250.5).length],
    [250.5],
  ),
  query(
    'takes a fraction beside an integer',
    'SELECT count(*) FROM "order" WHERE number > $1',
    [190],
    [1010.5],
  ),
  query(
    'takes a text',
    'SELECT count(*) FROM customer WHERE country = $1',
    [people.filter(({ country }) => country === 'DE').length],
    ['DE'],
  ),
  query('takes a boolean', 'SELECT count(*) FROM "order" WHERE paid = $1', [paid.length], [true]),
  query(
    'takes a null',
    'SELECT count(*) FROM customer WHERE vip IS NOT DISTINCT FROM $1',
    [people.filter(({ vip }) => vip === null).length],
    [null],
  ),
  query(
    'takes a time',
    'SELECT count(*) FROM "order" WHERE placed_at >= $1',
    [all.filter(({ placed_at }) => placed_at >= '2025-06-01').length],
    ['2025-06-01T00:00:00Z'],
  ),
  query(
    'takes a date',
    'SELECT count(*) FROM customer WHERE since < $1',
    [people.filter(({ since }) => since < '2022-01-01').length],
    ['2022-01-01'],
  ),
  query(
    'takes a list',
    'SELECT count(*) FROM customer WHERE country = ANY ($1)',
    [people.filter(({ country }) => ['DE', 'US'].includes(country)).length],
    [['DE', 'US']],
  ),
  query(
    'takes a list of numbers',
    'SELECT count(*) FROM "order" WHERE number = ANY ($1)',
    [2],
    [[1001, 1002, 5]],
  ),
  query('takes an empty list', 'SELECT count(*) FROM customer WHERE country = ANY ($1)', [0], [[]]),
  query(
    'takes a list it must not meet',
    'SELECT count(*) FROM customer WHERE country <> ALL ($1)',
    [people.filter(({ country }) => country !== 'DE').length],
    [['DE']],
  ),
  query(
    'takes a list of awkward texts',
    `SELECT $1::text[]`,
    [['a"b', 'c\\d', '{e,f}', '', 'NULL', null]],
    [['a"b', 'c\\d', '{e,f}', '', 'NULL', null]],
  ),
  query(
    'takes a json array',
    'SELECT count(*) FROM "order" WHERE tags @> $1',
    [tagged('gift').length],
    [['gift']],
  ),
  query(
    'takes a json object',
    'SELECT count(*) FROM "order" WHERE address @> $1',
    [all.filter(({ address }) => address.city === 'Paris').length],
    [{ city: 'Paris' }],
  ),
  query(
    'takes a name',
    'SELECT count(*) FROM "order" WHERE total > :least AND total < :most',
    [all.filter(({ total }) => total > 100 && total < 200).length],
    { least: 100, most: 200 },
  ),
  query('takes a name twice', 'SELECT :x::int + :x::int', [10], { x: 5 }),
  query('tells a name from a cast', `SELECT '7'::int + :n`, [8], { n: 1 }),
  query('tells a name from a text', `SELECT ':n' || :n::text`, [':nx'], { n: 'x' }),
  query(
    'tells a name from a slice',
    'SELECT (ARRAY[1, 2, 3])[1:2] = ARRAY[1, 2], ARRAY[:n, 5] = ARRAY[4, 5]',
    [true, true],
    { n: 4 },
  ),
  query('limits by a parameter', 'SELECT id FROM customer ORDER BY id LIMIT $1 OFFSET $2', 5, [5, 10]),
  query('answers parameters', 'SELECT $1, $2, $3, $4', [1, 'a', true, null], [1, 'a', true, null]),
  query('joins a number to a text', `SELECT 'x' || $1`, ['x5'], [5]),
  query('compares two unknowns', `SELECT $1 = 'a'`, [true], ['a']),
  query(
    'takes an optional filter left open',
    `SELECT count(*) FROM customer WHERE ($1 IS NULL OR country = $1)`,
    [40],
    [null],
  ),
  query(
    'takes an optional filter',
    `SELECT count(*) FROM customer WHERE ($1 IS NULL OR country = $1)`,
    [people.filter(({ country }) => country === 'DE').length],
    ['DE'],
  ),
  query(
    'takes an optional time',
    `SELECT count(*) FROM "order" WHERE (:since IS NULL OR placed_at >= :since) AND (:until::timestamptz IS NULL OR placed_at < :until)`,
    [all.filter((o) => month(o) === '2025-03').length],
    { since: '2025-03-01', until: '2025-04-01' },
  ),
  query(
    'takes one text as two types',
    `SELECT count(*) FROM "order" WHERE placed_at >= $1 AND concat($1, '') <> ''`,
    [all.filter(({ placed_at }) => placed_at >= '2025-06-01').length],
    ['2025-06-01'],
  ),
  query(
    'takes an interval',
    `SELECT count(*) FROM "order" WHERE placed_at < timestamptz '2025-01-01Z' + $1::interval`,
    [all.filter(({ placed_at }) => placed_at < '2025-01-31').length],
    ['30 days'],
  ),
  query('multiplies an interval', `SELECT extract(day FROM interval '1 day' * $1)::int`, [3], [3]),
  query('builds json of a text', `SELECT jsonb_build_object('a', $1, 'b', $2)`, [{ a: 'x', b: 1 }], ['x', 1]),
  query('unnests a parameter', 'SELECT u FROM unnest($1) AS u ORDER BY u DESC', ['b'], [['a', 'b']]),
  query(
    'unrolls a parameter',
    `SELECT sum(e::int) FROM jsonb_array_elements_text($1) AS e`,
    [6],
    [[1, 2, 3]],
  ),
  query(
    'takes a key',
    `SELECT address->>$1 FROM "order" WHERE id = $2`,
    [all[0]?.address.city],
    ['city', 'o001'],
  ),
  query(
    'takes a path',
    `SELECT attributes #>> $1 FROM "Product.v2" WHERE id = 'p01'`,
    [String(goods[0]?.attributes.size.w)],
    [['size', 'w']],
  ),
  query(
    'takes a like',
    'SELECT count(*) FROM "Product.v2" WHERE title ILIKE $1',
    [goods.filter(({ title }) => title.includes('Lamp')).length],
    ['%lamp%'],
  ),
  query('takes a number beyond 32 bits', 'SELECT $1 + 1', [5_000_000_001], [5_000_000_000]),
  query('takes a safe pattern', 'SELECT count(*) FROM customer WHERE email ~ $1', [5], ['^c0[1-5]@']),
  query('rounds to a parameter', 'SELECT round(2.567, $1)', [2.57], [2]),
  query('takes more than nine names', 'SELECT :a + :b + :c + :d + :e + :f + :g + :h + :i + :j', [55], {
    a: 1,
    b: 2,
    c: 3,
    d: 4,
    e: 5,
    f: 6,
    g: 7,
    h: 8,
    i: 9,
    j: 10,
  }),
  query('finds letters beyond ASCII', `SELECT 'Ünïcödé 🎉' || $1`, ['Ünïcödé 🎉→'], ['→']),
]

const FIXED: Honest[] = [
  query('reads records of every type', 'SELECT record_type, count(*) FROM records GROUP BY 1', 3),
  query('counts records', 'SELECT count(*) FROM records', [270]),
  query(
    'reads data of records',
    `SELECT data->>'name' FROM records WHERE record_type = 'customer' AND id = 'c01'`,
    ['Customer 01'],
  ),
  query('reads the pair', `SELECT external_source, external_id FROM customer WHERE id = 'c03'`, [
    'crm',
    'crm-3',
  ]),
  query(
    'finds by the pair',
    `SELECT id FROM records WHERE external_source = 'crm' AND external_id = 'crm-7'`,
    ['c07'],
  ),
  query(
    'reads the columns of a record',
    'SELECT status, version, created_at <= updated_at FROM customer LIMIT 1',
    ['active', 1, true],
  ),
  query('lists record types', 'SELECT id FROM record_types ORDER BY id COLLATE "C"', 3),
  query(
    'reads a schema',
    `SELECT json_schema->'properties'->'total'->>'type' FROM record_types WHERE id = 'order'`,
    ['number'],
  ),
  query(
    'lists properties',
    `SELECT count(*) FROM record_types t, jsonb_object_keys(t.json_schema->'properties') AS p WHERE t.id = 'customer'`,
    [5],
  ),
  query(
    'reads changes',
    `SELECT count(*) FROM changes WHERE kind = 'record' AND operation = 'create'`,
    [270],
  ),
  query(
    'joins records to their changes',
    `SELECT count(*) FROM "order" o JOIN changes c ON c.record_type = 'order' AND c.id = o.id AND c.version = o.version`,
    [200],
  ),
  query('takes the newest change', 'SELECT kind FROM changes ORDER BY seq DESC LIMIT 1', ['record']),
  query('reads relationships', 'SELECT count(*) FROM relationships', [0]),
  query('reads relationship types', 'SELECT count(*) FROM relationship_types', [0]),
]

/** At least 200 realistic queries of analysts and agents on the seeded data. */
export const HONEST: readonly Honest[] = [
  ...COUNTING,
  ...GROUPING,
  ...FILTERING,
  ...JOINING,
  ...NESTING,
  ...WINDOWS,
  ...JSON_QUERIES,
  ...TEXTS_AND_TIMES,
  ...PARAMETERS,
  ...FIXED,
]
