/** What may be cancelled. The signal is made when it is first asked for, as most work ends without one. */
export class Cancellation {
  #controller: AbortController | undefined
  #isCancelled = false

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#isCancelled) this.#controller.abort()
    }
    return this.#controller.signal
  }

  get isCancelled(): boolean {
    return this.#isCancelled
  }

  cancel(): void {
    this.#isCancelled = true
    this.#controller?.abort()
  }
}

/** Resolves when the signal aborts. */
export const whenAborted = (signal: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(undefined)
    else signal.addEventListener('abort', () => resolve(undefined), { once: true })
  })
