import { LIMITS } from '../../foundation/limits.ts'
import type { AddressSession } from './address-session.ts'
import type { ToolResult } from './result.ts'

/** JSON as a protocol version puts it on the wire: its fields are those of the specification. */
export type Wire = Readonly<Record<string, unknown>>

/** A fault of the protocol, not of the call: nothing of the name can be there for anyone, or no such page. */
export class InvalidParams extends Error {
  readonly data: Wire | undefined
  /** @param data what the error tells beside its message */
  constructor(message: string, data?: Wire) {
    super(message)
    this.data = data
  }
}

/** There is no such resource for the token, in the same words whether or not it exists. Its code is the era's. */
export class ResourceNotFound extends InvalidParams {
  constructor(uri: string) {
    super('There is no such resource here. resources/list and resources/templates/list say what there is.', {
      uri: uri.slice(0, LIMITS.resourceUriShownChars),
    })
  }
}

/** The client lacks what the call needs of it. `needs` is what it would have to declare, as `clientCapabilities`. */
export class MissingCapability extends Error {
  readonly needs: Wire
  constructor(needs: Wire) {
    super(`The client does not declare ${Object.keys(needs).join(', ')}, which this needs.`)
    this.needs = needs
  }
}

/** The client was asked and gave no answer: it failed, took too long, or the server ends. */
export class Unanswered extends Error {}

/** Thrown through a call whose question cannot be answered while it waits: it is run again when the answers are there. */
export class InputNeeded extends Error {
  readonly questions: Questions
  constructor(questions: Questions) {
    super('The call waits for answers of the client.')
    this.questions = questions
  }
}

/** Is this for the adapter, and not a failure that a result could carry? */
export const isOfProtocol = (thrown: unknown): boolean =>
  thrown instanceof InvalidParams || thrown instanceof MissingCapability || thrown instanceof InputNeeded

/** What somebody asked to confirm or to fill in came to. */
export type Elicited =
  | { outcome: 'accepted'; content: Wire }
  | { outcome: 'declined' | 'cancelled' | 'unavailable' }

/** Requests to the client by names of the caller's choice, and its results by the same names. */
export type Questions = Readonly<
  Record<string, { method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list'; params: Wire }>
>
export type Answers = Readonly<Record<string, Wire>>

/**
 * The one who waits for a call. What runs may be run again from its start once the client has answered a question, with
 * the answers at hand: before it asks, it must do nothing that may not happen twice, and it lets pass what `elicit` and
 * `ask` throw.
 */
export type Caller = {
  /** Aborts when the caller has cancelled or has gone. */
  readonly signal: AbortSignal
  /** Says how far the call is; `done` only rises. Nothing is sent to a caller that did not ask for it. */
  progress(done: number, total?: number, message?: string): void
  log(level: 'debug' | 'info' | 'notice' | 'warning' | 'error', data: unknown): void
  /** Asks the person behind the client, with a flat JSON Schema of what may be answered. */
  elicit(message: string, schema: Wire): Promise<Elicited>
  /** Asks all of it at once. @throws MissingCapability */
  ask(questions: Questions): Promise<Answers>
}

/** What became different for a session: one of its lists, or a resource that it follows. */
export type Changed = { list: 'tools' | 'prompts' | 'resources' } | { uri: string }

/**
 * Changes being told, until `close`, or until `over` aborts: the token, its grants, the base or the server went, or the
 * reason is an error of ours.
 */
export type Watch = {
  readonly over: AbortSignal
  /** Tells of this resource too. @throws InvalidParams, DomainError when the session may not read it */
  follow(uri: string): Promise<void>
  unfollow(uri: string): void
  close(): void
}

/** A page of a list, in the words of the specification. */
type Page<Key extends string> = { readonly [key in Key]: readonly object[] } & { nextCursor?: string }
export type CompletionOf = { ref: Wire; argument: { name: string; value: string }; context?: Wire }

/**
 * All that the protocol can be asked about, in the words of no version of it; both adapters serve one. What it lacks is
 * no capability of the server. Everything throws InvalidParams for faults of the request, and DomainError.
 */
export type Provider = {
  readonly about: { name: string; title: string; version: string }
  /** Shown to the model once, before any tool. */
  readonly instructions: string
  readonly tools: {
    list(session: AddressSession, cursor?: string): Promise<Page<'tools'>>
    call(
      session: AddressSession,
      name: string,
      args: Record<string, unknown>,
      caller: Caller,
    ): Promise<ToolResult>
  }
  readonly resources?: {
    list(session: AddressSession, cursor?: string): Promise<Page<'resources'>>
    templates(session: AddressSession, cursor?: string): Promise<Page<'resourceTemplates'>>
    read(session: AddressSession, uri: string, caller: Caller): Promise<{ contents: readonly object[] }>
    /** May the session follow it? Asked where nobody listens yet. @throws InvalidParams, DomainError */
    demandFollow(session: AddressSession, uri: string): Promise<void>
  }
  readonly prompts?: {
    list(session: AddressSession, cursor?: string): Promise<Page<'prompts'>>
    get(
      session: AddressSession,
      name: string,
      args: Readonly<Record<string, string>>,
      caller: Caller,
    ): Promise<{ description?: string; messages: readonly object[] }>
  }
  /** At most 100 values; none for what there is nothing to say about. */
  complete?(
    session: AddressSession,
    asked: CompletionOf,
  ): Promise<{ values: readonly string[]; total?: number; hasMore?: boolean }>
  /** Tells of changes from now on. @throws RATE_LIMITED when the token listens often enough already */
  watch?(session: AddressSession, tell: (changed: Changed) => void): Promise<Watch>
}
