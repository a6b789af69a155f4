import type { Role, Token } from "@signalbox/protocol/hub-api"

/** A token as it is kept: the secret itself only as a hash. */
export interface TokenRecord extends Token {
  readonly hash: string
}

/** Who is asking. `name` is what audit records and events say. */
export interface Caller {
  readonly role: Role
  readonly name: string
  readonly tokenId: string
  readonly sessionId: string | null
  /** Of a browser that is signed in: which login it is, by its hash. */
  readonly login?: string
}
