/** The fair gate: caps are never exceeded, waiters are all admitted, and shares take turns. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FairGate, type Share } from '../../src/engine/storage/database/fair-gate.ts'
import { times } from '../support/answers.ts'
import { cases } from '../support/cases.ts'

const CAPS = [
  { inAll: 6, ofShare: 4 },
  { inAll: 4, ofShare: 3 },
  { inAll: 3, ofShare: 2 },
]
const full = () => new Error('full')
const late = () => new Error('late')
const turn = () => new Promise((resolve) => setImmediate(resolve))

test('the fair gate admits shares in turn, independent of the length of their queues', async () => {
  const gate = new FairGate({ caps: [{ inAll: 2, ofShare: 2 }], full, late })
  const [greedy, modest, third] = times(3, () => gate.open()) as [Share, Share, Share]
  const order: string[] = []
  const holders = [greedy, greedy]
  const come = (share: Share, name: string) =>
    gate.enter(share, 0)?.then(() => {
      order.push(name)
      holders.push(share)
    })
  expect([gate.enter(greedy, 0), gate.enter(greedy, 0)], 'both places are free').toEqual([
    undefined,
    undefined,
  ])
  const queue = [...times(4, (i) => come(greedy, `g${i}`)), ...times(2, (i) => come(modest, `m${i}`))]
  queue.push(come(third, 't0'))
  for (const _ of queue) {
    gate.leave(holders.shift() as Share, 0)
    await turn()
  }
  await Promise.all(queue)
  expect(order).toEqual(['g0', 'm0', 't0', 'g1', 'm1', 'g2', 'g3'])
})

test('work of a heavy class at its cap does not block a lighter class', async () => {
  const gate = new FairGate({ caps: CAPS, full, late })
  const share = gate.open()
  expect(times(2, () => gate.enter(share, 2))).toEqual([undefined, undefined])
  const third = gate.enter(share, 2)
  expect(third).toBeInstanceOf(Promise)
  expect(gate.enter(share, 1), 'a transaction has a place').toBeUndefined()
  expect(gate.enter(share, 0), 'and so has short work').toBeUndefined()
  expect(gate.enter(share, 0), 'up to the cap of the share').toBeInstanceOf(Promise)
  gate.leave(share, 2)
  await third
  expect(gate.load()).toEqual({ running: 4, waiting: 1, refused: 0 })
})

test('the fair gate refuses immediately when the queue is full, and otherwise after the maximum wait', async () => {
  const gate = new FairGate({ caps: [{ inAll: 1, ofShare: 1 }], waitMs: 20, mostWaiting: 2, full, late })
  const [share, other] = [gate.open(), gate.open()]
  expect(gate.enter(share, 0)).toBeUndefined()
  const waiting = times(2, () => gate.enter(share, 0))
  expect(() => gate.enter(share, 0)).toThrow('full')
  const ofOther = gate.enter(other, 0)
  for (const each of [...waiting, ofOther]) await expect(each).rejects.toThrow('late')
  gate.leave(share, 0)
  expect(gate.load()).toEqual({ running: 0, waiting: 0, refused: 4 })
  expect(gate.enter(share, 0), 'a place that nobody waits for is free').toBeUndefined()
})

const Steps = fc.array(
  fc.oneof(fc.record({ share: fc.nat(3), weight: fc.nat(2) }), fc.record({ leaves: fc.nat(20) })),
  { maxLength: 80 },
)

test('the fair gate never exceeds a cap, admits in order, and leaves no usable place free', {
  tags: 'sampled',
}, async () => {
  await fc.assert(
    fc.asyncProperty(Steps, async (steps) => {
      const gate = new FairGate({ caps: CAPS, full, late })
      const shares = times(4, () => gate.open())
      const inside: { share: number; weight: number }[] = []
      const waiting: { share: number; weight: number; at: number }[] = []
      const admitted: { share: number; weight: number; at: number }[] = []
      const count = (weight: number, share?: number) =>
        inside.filter((each) => each.weight >= weight && (share === undefined || each.share === share)).length
      const fits = (share: number, weight: number) =>
        CAPS.slice(0, weight + 1).every(
          (cap, level) => count(level) < cap.inAll && count(level, share) < cap.ofShare,
        )
      const holds = () => {
        for (const [level, cap] of CAPS.entries()) {
          expect(count(level)).toBeLessThanOrEqual(cap.inAll)
          for (const share of shares.keys()) expect(count(level, share)).toBeLessThanOrEqual(cap.ofShare)
        }
        expect(waiting.filter(({ share, weight }) => fits(share, weight))).toEqual([])
        expect(gate.load()).toEqual({ running: inside.length, waiting: waiting.length, refused: 0 })
      }
      const leave = async (at: number) => {
        const [gone] = inside.splice(at, 1)
        if (gone) gate.leave(shares[gone.share] as Share, gone.weight)
        await turn()
      }
      for (const [at, step] of steps.entries()) {
        if ('leaves' in step) {
          if (inside.length > 0) await leave(step.leaves % inside.length)
        } else {
          const entering = gate.enter(shares[step.share] as Share, step.weight)
          if (entering === undefined) inside.push(step)
          else {
            const waiter = { ...step, at }
            waiting.push(waiter)
            void entering.then(() => {
              waiting.splice(waiting.indexOf(waiter), 1)
              admitted.push(waiter)
              inside.push(step)
            })
          }
        }
        holds()
      }
      while (inside.length > 0) await leave(0)
      expect(waiting, 'nobody is lost').toEqual([])
      for (const share of shares.keys())
        for (const weight of CAPS.keys()) {
          const order = admitted.filter((each) => each.share === share && each.weight === weight)
          expect(order.map(({ at }) => at)).toEqual(order.map(({ at }) => at).toSorted((a, b) => a - b))
        }
    }),
    { numRuns: cases(300) },
  )
})
