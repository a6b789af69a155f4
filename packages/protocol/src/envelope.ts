/** The least that every message has. What else is in it is whatever the peer sent: nothing may be taken for granted. */
export interface Envelope {
  readonly type: string
  readonly [field: string]: unknown
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

export function isEnvelope(value: Readonly<Record<string, unknown>>): value is Envelope {
  return typeof value["type"] === "string"
}

/** Without the fields that have no value. */
export function defined<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> }
export function defined(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

/** A field that is an object, or undefined. */
export function fieldOf(value: unknown, name: string): Readonly<Record<string, unknown>> | undefined {
  if (!isObject(value)) return undefined
  const field = value[name]
  return isObject(field) ? field : undefined
}

/** A field that is a string, or undefined. */
export function textOf(value: unknown, name: string): string | undefined {
  if (!isObject(value)) return undefined
  const field = value[name]
  return typeof field === "string" ? field : undefined
}

/** An error that callers know by its `code`; the message is prose. */
export class CodedError<Code extends string> extends Error {
  readonly code: Code
  readonly details: Readonly<Record<string, unknown>>

  constructor(
    code: Code,
    message: string,
    options: { cause?: unknown; details?: Readonly<Record<string, unknown>> } = {},
  ) {
    super(message, "cause" in options ? { cause: options.cause } : {})
    this.code = code
    this.details = options.details ?? {}
  }
}

/** Local errors of this room. What a peer reports over the wire is data, never one of these. */
export type ProtocolErrorCode =
  | "request/timeout"
  | "request/aborted"
  | "request/closed"
  | "request/duplicate"
  | "write/not-encodable"
  | "write/not-accepted"

export class ProtocolError extends CodedError<ProtocolErrorCode> {
  override readonly name = "ProtocolError"
}

/** Undefined for a text that is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Undefined for a text that is no JSON object. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  const value = parseJson(text)
  return isObject(value) ? value : undefined
}
