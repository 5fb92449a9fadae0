// @module-tag full
// @module-tag sampled
/** Any base comes out of its file as it went in: the export of the import has the same members. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { succeed } from '../support/answers.ts'
import { exportsOf, linesIn, type Members, membersOf } from '../support/base-file.ts'
import { CASES_TIMEOUT } from '../support/cases.ts'
import { forAll } from '../support/for-all.ts'
import { openWorld, type World } from '../support/world.ts'
import { mixed, text } from './irregular-values.ts'

let world: World
let serial = 0
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const ACTS = [
  'put',
  'patch',
  'cancel',
  'delete',
  'restore',
  'link',
  'unlink',
  'schema',
  'file',
  'unfile',
  'attach',
  'undo',
] as const
const acts = fc.array(
  fc.record({ act: fc.constantFrom(...ACTS), of: fc.nat(3), to: fc.nat(3), value: mixed, words: text }),
  { minLength: 1, maxLength: 25 },
)
type Act = { act: (typeof ACTS)[number]; of: number; to: number; value: unknown; words: string }

/** One act on a base. What the base refuses is no matter. */
function run(base: string, { act, of, to, value, words }: Act): Promise<unknown> {
  const type = of % 2 ? 'a' : 'b'
  const at = (path: string) => `/v1/${base}/${path}`
  const record = at(`records/${type}/r${of}`)
  const ends = {
    rel_type: 'near',
    source_record_type: type,
    source_id: `r${of}`,
    target_record_type: 'a',
    target_id: `r${to}`,
  }
  const { call } = world
  switch (act) {
    case 'put':
      return call('PUT', record, {
        data: { value, [`k${to}`]: words },
        ...(to === 0 && { external_id: `x${of}` }),
      })
    case 'patch':
      return call('PATCH', record, { data: { more: value } })
    case 'cancel':
    case 'restore':
      return call('POST', `${record}/${act}`)
    case 'delete':
      return call('DELETE', record)
    case 'link':
      return call('PUT', at('relationships'), { ...ends, data: { value } })
    case 'unlink':
      return call('DELETE', at(`relationships?${new URLSearchParams(ends)}`))
    case 'schema':
      return call('PUT', at(`record-types/${type}?on_invalid=allow`), {
        json_schema: { properties: { [`k${to}`]: { type: 'string', maxLength: to } } },
      })
    case 'file':
      return call('PUT', at(`files/docs/f${of}`), words.repeat(1 + 3000 * (to % 2)), {
        'content-type': 'text/plain',
      })
    case 'unfile':
      return call('DELETE', at(`files/docs/f${of}`))
    case 'attach':
      return call('POST', `${record}/attachments`, {
        filename: `n${to}`,
        content: words,
        content_type: 'text/plain',
      })
    default:
      return call('POST', at('changes/revert'), { last: true })
  }
}

const entriesOf = (members: Members, base: string) =>
  linesIn(members, 'changes.ndjson').map(({ seq: _, cause, data, id, ...entry }) => ({
    ...entry,
    id: entry.kind === 'base' ? base : id,
    caused: cause !== null,
    data: data && { ...data, baseId: '', ...(entry.kind === 'base' && { id: '' }) },
  }))

test('export, import and export again give equal members', { timeout: CASES_TIMEOUT }, () => {
  const { exported, imported } = exportsOf(world)
  return forAll(fc.tuple(acts, fc.boolean()), 40, async ([each, history]) => {
    const [from, to] = [`from${++serial}`, `to${serial}`]
    for (const path of [
      '',
      '/record-types/a',
      '/record-types/b',
      '/relationship-types/near',
      '/file-types/docs',
    ])
      succeed(await world.call('PUT', path === '' ? `/v1/bases/${from}` : `/v1/${from}${path}`, {}), 201)
    for (const act of each) await run(from, act)
    const file = await exported(from, `?history=${history}`)
    succeed(await imported(to, file), 201)
    const [before, after] = [membersOf(file), membersOf(await exported(to))]
    const names = (members: Members) => [...members.keys()]
    expect(names(after)).toEqual(names(before))
    for (const name of names(before).filter((one) => !/^(plinth|end|changes|config)\b/.test(one)))
      expect(after.get(name)?.toString(), name).toBe(before.get(name)?.toString())
    // The last entry is that of the import.
    expect(entriesOf(after, '').slice(0, -1)).toEqual(entriesOf(before, ''))
    for (const base of [from, to]) succeed(await world.call('DELETE', `/v1/bases/${base}?confirm=${base}`))
  })
})
