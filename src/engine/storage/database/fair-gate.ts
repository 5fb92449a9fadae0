/** Concurrency limit of a class of work: in total, and per share. */
export type GateCap = { readonly inAll: number; readonly ofShare: number }
export type GateOptions = {
  /**
   * Caps from the lightest class to the heaviest. A heavier class also counts against the caps of the lighter
   * ones.
   */
  readonly caps: readonly GateCap[]
  /** Maximum wait in the queue. Unlimited by default. */
  readonly waitMs?: number
  /** Maximum queue length of a share. Unlimited by default. */
  readonly mostWaiting?: number
  /** Creates the error for a full queue. */
  readonly full: () => Error
  /** Creates the error for a wait that timed out. */
  readonly late: () => Error | Promise<Error>
}

type Waiter = { since: number; order: number; admit: () => void; refuse: (error: Error) => void }

/** The running and queued work of one caller, by class. */
export class Share {
  readonly running: number[]
  readonly waiting: Waiter[][]
  readonly mostWaiting: number
  constructor(classes: number, mostWaiting: number) {
    this.mostWaiting = mostWaiting
    this.running = new Array<number>(classes).fill(0)
    this.waiting = Array.from({ length: classes }, () => [])
  }
}

/**
 * Fair semaphore: divides a fixed number of slots between shares. Work over a cap waits in the queue of its
 * share. Queues are served round-robin, so a long queue of one caller does not delay others.
 */
export class FairGate {
  readonly #caps: readonly GateCap[]
  readonly #options: GateOptions
  readonly #running: number[]
  /** Shares with queued work, in round-robin order. */
  readonly #queued = new Set<Share>()
  #order = 0
  #refused = 0
  #timer: NodeJS.Timeout | undefined

  constructor(options: GateOptions) {
    this.#options = options
    this.#caps = options.caps
    this.#running = new Array<number>(options.caps.length).fill(0)
  }

  /** Opens a share whose queue is limited by `mostWaiting`. */
  open(mostWaiting = this.#options.mostWaiting ?? Number.POSITIVE_INFINITY): Share {
    return new Share(this.#caps.length, mostWaiting)
  }
  /**
   * Acquires a slot. Returns undefined when one is free at once. Release it with `leave`.
   * @throws the errors of the options
   */
  enter(share: Share, weight: number): Promise<void> | undefined {
    if (this.#hasPlace(share, weight)) {
      this.#count(share, weight, 1)
      return undefined
    }
    return this.#wait(share, weight)
  }
  leave(share: Share, weight: number): void {
    this.#count(share, weight, -1)
    if (this.#queued.size > 0) this.#serve()
  }
  /** Current load, and the number of rejections so far. */
  load(): { running: number; waiting: number; refused: number } {
    let waiting = 0
    for (const share of this.#queued) for (const queue of share.waiting) waiting += queue.length
    return { running: this.#running[0] ?? 0, waiting, refused: this.#refused }
  }

  #hasPlace(share: Share, weight: number): boolean {
    for (let level = 0; level <= weight; level++) {
      const cap = this.#caps[level] as GateCap
      if ((this.#running[level] as number) >= cap.inAll) return false
      if ((share.running[level] as number) >= cap.ofShare) return false
    }
    return true
  }
  #count(share: Share, weight: number, by: 1 | -1): void {
    for (let level = 0; level <= weight; level++) {
      this.#running[level] = (this.#running[level] as number) + by
      share.running[level] = (share.running[level] as number) + by
    }
  }
  #wait(share: Share, weight: number): Promise<void> {
    const queue = share.waiting[weight] as Waiter[]
    if (lengthOf(share) >= share.mostWaiting) {
      this.#refused++
      throw this.#options.full()
    }
    return new Promise((admit, refuse) => {
      queue.push({ since: performance.now(), order: this.#order++, admit, refuse })
      this.#queued.add(share)
      this.#timer ??= this.#options.waitMs === undefined ? undefined : this.#watch(this.#options.waitMs)
    })
  }
  /** Admits queued work while slots are free, one item per share in turn. */
  #serve(): void {
    for (const share of this.#queued) {
      if ((this.#running[0] as number) >= (this.#caps[0] as GateCap).inAll) return
      const weight = this.#next(share)
      if (weight === undefined) continue
      const waiter = share.waiting[weight]?.shift() as Waiter
      this.#count(share, weight, 1)
      // Move the share to the end of the round, behind the shares that have not had their turn.
      this.#queued.delete(share)
      if (lengthOf(share) > 0) this.#queued.add(share)
      waiter.admit()
    }
  }
  /** The class of the oldest waiter that can be admitted. */
  #next(share: Share): number | undefined {
    let next: number | undefined
    let oldest = Number.POSITIVE_INFINITY
    for (const [weight, [head]] of share.waiting.entries()) {
      if (!head || head.order >= oldest || !this.#hasPlace(share, weight)) continue
      oldest = head.order
      next = weight
    }
    return next
  }
  /** One timer for all waiters. Each queue has its oldest waiter first. */
  #watch(waitMs: number): NodeJS.Timeout {
    return setInterval(
      () => {
        const over = performance.now() - waitMs
        for (const share of this.#queued) {
          for (const queue of share.waiting)
            for (let head = queue[0]; head && head.since <= over; head = queue[0]) {
              queue.shift()
              this.#refuse(head)
            }
          if (lengthOf(share) === 0) this.#queued.delete(share)
        }
        if (this.#queued.size > 0) return
        clearInterval(this.#timer)
        this.#timer = undefined
      },
      Math.min(250, waitMs),
    )
  }
  #refuse({ refuse }: Waiter): void {
    this.#refused++
    Promise.resolve(this.#options.late()).then(refuse, refuse)
  }
}

const lengthOf = (share: Share): number => {
  let length = 0
  for (const queue of share.waiting) length += queue.length
  return length
}
