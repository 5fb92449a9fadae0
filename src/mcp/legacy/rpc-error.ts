/** The SDK sends the code, message and data of what is thrown; its own error class puts words before the message. */
export class RpcError extends Error {
  readonly code: number
  readonly data: object | undefined
  constructor({ code, message, data }: { code: number; message: string; data?: object }) {
    super(message)
    this.code = code
    this.data = data
  }
}
