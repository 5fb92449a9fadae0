/** What an MCP server offers, independent of the protocol version. */
import type { Cancellation } from '../../foundation/cancellation.ts'
import { LIMITS } from '../../foundation/limits.ts'
import type { Tasks } from '../../graphql/context.ts'
import type { AddressSession } from './address-session.ts'
import type { CallOrigin } from './call-origin.ts'
import type { ToolResult } from './result.ts'

/** A JSON object as the MCP specification defines it. */
export type Wire = Readonly<Record<string, unknown>>

/**
 * JSON-RPC "invalid params": a fault of the request rather than of the tool call, such as an unknown name or
 * cursor.
 */
export class InvalidParams extends Error {
  readonly data: Wire | undefined
  /** @param data `data` of the JSON-RPC error */
  constructor(message: string, data?: Wire) {
    super(message)
    this.data = data
  }
}

/**
 * Resource not found. Unknown and forbidden resources get the same message. The error code depends on the
 * era.
 */
export class ResourceNotFound extends InvalidParams {
  constructor(uri: string) {
    super('Unknown resource. resources/list and resources/templates/list list the resources.', {
      uri: uri.slice(0, LIMITS.resourceUriShownChars),
    })
  }
}

/** The client lacks a capability that the call needs. `needs` is the missing part of `clientCapabilities`. */
export class MissingCapability extends Error {
  readonly needs: Wire
  constructor(needs: Wire) {
    super(`The client does not declare ${Object.keys(needs).join(', ')}, which this needs.`)
    this.needs = needs
  }
}

/**
 * A question to the client got no answer: the client failed, the time ran out, or the server is shutting
 * down.
 */
export class Unanswered extends Error {}

/**
 * Control flow: aborts a call whose questions the client must answer first. The call runs again with the
 * answers.
 */
export class InputNeeded extends Error {
  readonly questions: Questions
  constructor(questions: Questions) {
    super('The call waits for input from the client.')
    this.questions = questions
  }
}

/** Whether the era adapter handles this error, rather than a tool result. */
export const isOfProtocol = (thrown: unknown): boolean =>
  thrown instanceof InvalidParams || thrown instanceof MissingCapability || thrown instanceof InputNeeded

/** The outcome of an elicitation. */
export type Elicited =
  | { outcome: 'accepted'; content: Wire }
  | { outcome: 'declined' | 'cancelled' | 'unavailable' }

/** Requests to the client by caller-chosen names. The answers have the same names. */
export type Questions = Readonly<
  Record<string, { method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list'; params: Wire }>
>
export type Answers = Readonly<Record<string, Wire>>

/**
 * Request handle: the channel to the client of a running call. After an elicitation, a call may run again
 * from its start with the answers. So it must have no side effects before it asks, and must not catch what
 * `elicit` and `ask` throw.
 */
export type Caller = {
  /** Where the call comes from, for the change log. */
  readonly origin: CallOrigin
  /** Cancelled when the client cancels the call or disconnects. Its signal is made when it is asked for. */
  readonly ended: Cancellation
  /** Cancelled when the client takes back a call that goes on without it. */
  readonly withdrawn?: Cancellation
  /** Reports progress; `done` must not decrease. Sent only if the client gave a progress token. */
  progress(done: number, total?: number, message?: string): void
  log(level: 'debug' | 'info' | 'notice' | 'warning' | 'error', data: unknown): void
  /** Asks the user; `schema` is a flat JSON Schema of the answer. */
  elicit(message: string, schema: Wire): Promise<Elicited>
  /**
   * Sends several requests to the client at once.
   * @throws MissingCapability
   */
  ask(questions: Questions): Promise<Answers>
}

/** A change notification for a session: one of its lists, or a subscribed resource. */
export type Changed = { list: 'tools' | 'prompts' | 'resources' } | { uri: string }

/**
 * A subscription to changes. Ends on `close`, or when `over` aborts because the token, its grants, the base
 * or the server is gone. An internal error is the abort reason.
 */
export type Watch = {
  readonly over: AbortSignal
  /**
   * Subscribes to a resource.
   * @throws InvalidParams, DomainError if the session may not read it
   */
  follow(uri: string): Promise<void>
  unfollow(uri: string): void
  close(): void
}

/** A page of a list, with the field names of the specification. */
type Page<Key extends string> = { readonly [key in Key]: readonly object[] } & { nextCursor?: string }
export type CompletionOf = { ref: Wire; argument: { name: string; value: string }; context?: Wire }

/**
 * Version-neutral interface of an MCP server; the adapters of both eras serve it. Optional members that are
 * missing are capabilities that the server does not declare. All methods throw InvalidParams for invalid
 * requests, and DomainError.
 */
export type Provider = {
  readonly about: { name: string; title: string; version: string }
  /** Server instructions. Clients show them to the model once, before any tool. */
  instructions(session: AddressSession): Promise<string>
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
    /**
     * Checks that the session may subscribe, without opening a stream.
     * @throws InvalidParams, DomainError
     */
    checkSubscribable(session: AddressSession, uri: string): Promise<void>
  }
  /** The calls of a session that go on after their answer: the extension `io.modelcontextprotocol/tasks`. */
  tasks?(session: AddressSession): Tasks
  /** The skills of an address: the extension `io.modelcontextprotocol/skills`. */
  readonly skills?: {
    list(session: AddressSession): Promise<{ skills: readonly object[] }>
    /** @throws ResourceNotFound */
    get(session: AddressSession, uri: string): Promise<{ skill: object }>
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
  /** Returns at most 100 values; none if there is nothing to complete. */
  complete?(
    session: AddressSession,
    asked: CompletionOf,
  ): Promise<{ values: readonly string[]; total?: number; hasMore?: boolean }>
  /**
   * Starts change notifications.
   * @throws RATE_LIMITED if the token has too many streams
   */
  watch?(session: AddressSession, notify: (changed: Changed) => void): Promise<Watch>
}

/** Server capabilities in either protocol era, derived from the optional parts of the provider. */
export function capabilitiesOf({ resources, prompts, skills, complete, watch }: Provider) {
  const listChanged = watch ? { listChanged: true } : {}
  return {
    tools: listChanged,
    logging: {},
    ...(resources && { resources: { ...listChanged, ...(watch && { subscribe: true }) } }),
    ...(prompts && { prompts: listChanged }),
    ...(complete && { completions: {} }),
    ...(skills && { extensions: { 'io.modelcontextprotocol/skills': {} } }),
  }
}
