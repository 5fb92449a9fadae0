/**
 * Preloaded into the process of a test tool: its timers take five times as long. They end what hangs, and some of
 * the tool's are shorter (500 ms) than an answer may take on a busy machine.
 */
const FACTOR = 5
const { setTimeout } = globalThis
const { timeout } = AbortSignal

globalThis.setTimeout = Object.assign(
  (work: (...values: unknown[]) => void, delayMs = 0, ...values: unknown[]) =>
    setTimeout(work, delayMs * FACTOR, ...values),
  setTimeout,
)
AbortSignal.timeout = (delayMs) => timeout.call(AbortSignal, delayMs * FACTOR)
