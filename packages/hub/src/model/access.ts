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
  /** For a browser that is signed in: which login it is, by its hash. */
  readonly login?: string
}

/** Who acts where no person does, as events and audit records name it. */
export const ACTOR = {
  hub: "hub",
  relay: "relay auto-approval",
  anonymous: "anonymous relay frontend",
  rule: (id = "?") => `rule ${id}`,
}

/** Whether a person of this name would be taken for one of those. */
export function isActor(name: string): boolean {
  const actors = [ACTOR.hub, ACTOR.relay, ACTOR.anonymous].map(plainName)
  return actors.includes(plainName(name)) || /^rule\s/iu.test(name.normalize("NFKC"))
}

/** Names that look alike are one person's: case, width, and characters that cannot be seen make no other. */
export function plainName(name: string): string {
  return name
    .normalize("NFKC")
    .replace(/[\p{C}\p{Z}\p{M}]/gu, "")
    .toLowerCase()
}
