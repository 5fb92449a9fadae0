import { expect, test } from 'vitest'
import { nextTurn, turnIsOver } from '../src/foundation/event-loop-turns.ts'

/** Blocks the event loop. */
function busy(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

async function work(steps: number): Promise<void> {
  for (let i = 0; i < steps; i++) {
    if (turnIsOver()) await nextTurn()
    busy(2)
  }
}

test('timers run between turns of work', { tags: 'full' }, async () => {
  let ticks = 0
  const timer = setInterval(() => ticks++, 1)
  await work(100)
  clearInterval(timer)
  expect(ticks).toBeGreaterThan(5)
})

test('parallel tasks share one time budget per pass of the event loop', { tags: 'full' }, async () => {
  let passes = 0
  let isDone = false
  const count = () => {
    passes++
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  // 400 ms of work in turns of 10 ms are about forty passes; one turn per task would be one pass.
  await Promise.all(Array.from({ length: 50 }, () => work(4)))
  isDone = true
  expect(passes).toBeGreaterThan(20)
})

test('work that goes on for several turns lets a timer run before it ends', async () => {
  let ticks = 0
  const timer = setInterval(() => ticks++, 1)
  await work(10)
  clearInterval(timer)
  expect(ticks).toBeGreaterThan(0)
})

test('waiting tasks are resumed in FIFO order', async () => {
  const order: number[] = []
  await Promise.all(
    [1, 2, 3].map(async (n) => {
      for (let i = 0; i < 2; i++) {
        await nextTurn()
        order.push(n)
      }
    }),
  )
  expect(order).toEqual([1, 2, 3, 1, 2, 3])
})

test('all waiting tasks are resumed in one pass while the budget lasts', async () => {
  let passes = 0
  let isDone = false
  const count = () => {
    passes++
    if (!isDone) setImmediate(count)
  }
  await nextTurn()
  setImmediate(count)
  await Promise.all(Array.from({ length: 200 }, () => nextTurn()))
  isDone = true
  expect(passes).toBeLessThan(20)
})
