/** What a gate admits at once of a class of work: in all, and for one share. */
export type GateCap = { readonly inAll: number; readonly ofShare: number }
export type GateOptions = {
  /** From the lightest class to the heaviest; a heavier one counts in all the lighter ones too. */
  readonly caps: readonly GateCap[]
  /** How long work waits for its turn; without it, as long as it takes. */
  readonly waitMs?: number
  /** How many of one share wait; without it, any number. */
  readonly mostWaiting?: number
  /** What is thrown when the queue of a share is full. */
  readonly full: () => Error
  /** What is thrown when the wait is over. */
  readonly late: () => Error | Promise<Error>
}

type Waiter = { since: number; order: number; admit: () => void; refuse: (error: Error) => void }

/** One caller's part of a gate: what it runs, and what it has waiting, by class. */
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
 * Divides a fixed number of places between shares. What exceeds a cap waits in its share's queue; the queues are served
 * round-robin, so a long queue of one caller delays nobody else.
 */
export class FairGate {
  readonly #caps: readonly GateCap[]
  readonly #options: GateOptions
  readonly #running: number[]
  /** Shares with a queue, the one to be served next first. */
  readonly #queued = new Set<Share>()
  #order = 0
  #refused = 0
  #timer: NodeJS.Timeout | undefined

  constructor(options: GateOptions) {
    this.#options = options
    this.#caps = options.caps
    this.#running = new Array<number>(options.caps.length).fill(0)
  }

  /** A share, with a queue of its own bound where `mostWaiting` says so. */
  open(mostWaiting = this.#options.mostWaiting ?? Number.POSITIVE_INFINITY): Share {
    return new Share(this.#caps.length, mostWaiting)
  }
  /** Takes a place; undefined when there is one at once. Whoever is admitted leaves. @throws what the options say */
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
  /** What runs and waits now, and how often work was refused so far. */
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
  /** Admits whatever has a place now, one of each share in turn. */
  #serve(): void {
    for (const share of this.#queued) {
      if ((this.#running[0] as number) >= (this.#caps[0] as GateCap).inAll) return
      const weight = this.#next(share)
      if (weight === undefined) continue
      const waiter = share.waiting[weight]?.shift() as Waiter
      this.#count(share, weight, 1)
      // To the end of the round; a share that comes up again in this loop has had its turn after all others.
      this.#queued.delete(share)
      if (lengthOf(share) > 0) this.#queued.add(share)
      waiter.admit()
    }
  }
  /** The class of the oldest waiter that has a place. */
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
  /** One timer for all that wait: each queue has its oldest first. */
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
