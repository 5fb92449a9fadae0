import { Tiktoken } from 'js-tiktoken/lite'
import ranks from 'js-tiktoken/ranks/o200k_base'
import type { Body } from './server.ts'

const encoding = new Tiktoken(ranks)

/** Tokens of a text in the encoding o200k. */
export const tokensOf = (text: string): number => encoding.encode(text).length

/** Tokens of what a client shows a model of a list of tools: names, descriptions and input schemas. */
export const tokensOfTools = (tools: readonly Body[]): number =>
  tools.reduce((sum, { name, description, inputSchema }) => {
    return sum + tokensOf(JSON.stringify({ name, description, input_schema: inputSchema }))
  }, 0)
