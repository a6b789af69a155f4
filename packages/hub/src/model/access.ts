export type Role = "viewer" | "operator" | "admin" | "agent" | "runner"

/** A token as it is kept: the secret itself only as a hash. */
export interface TokenRecord {
  readonly id: string
  readonly role: Role
  readonly name: string | null
  readonly hash: string
  /** Agents' tokens only: the one session the agent may connect as. */
  readonly sessionId: string | null
  readonly createdAt: string
  readonly expiresAt: string | null
  readonly revokedAt: string | null
}

/** Who is asking. `name` is what audit records and events say. */
export interface Caller {
  readonly role: Role
  readonly name: string
  readonly tokenId: string
  readonly sessionId: string | null
  /** Signed-in browsers only: the hash of the login. */
  readonly login?: string
}
