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
