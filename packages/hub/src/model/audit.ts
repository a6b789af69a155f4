/** Each settled ask, each grant and its end, each change of policy or tokens leaves one. */
export interface AuditRecord {
  readonly id: number
  readonly at: string
  readonly what: string
  readonly by: string | null
  readonly via: string | null
  readonly sessionId: string | null
  readonly askId: string | null
  readonly details: Readonly<Record<string, unknown>>
}

export type NewAuditRecord = Omit<AuditRecord, "id">

/** A standing permission that somebody gave while answering an ask. */
export interface Grant {
  readonly id: string
  readonly sessionId: string
  readonly askId: string
  readonly grantedBy: string
  readonly grantedAt: string
  /** "hub": a rule of ours for that session, truly revocable. Otherwise where the CLI keeps it. */
  readonly where: "hub" | "userSettings" | "projectSettings" | "localSettings" | "session" | "cliArg"
  readonly machine: string | null
  readonly update: Readonly<Record<string, unknown>>
  readonly revokedAt: string | null
  readonly revokedBy: string | null
}
