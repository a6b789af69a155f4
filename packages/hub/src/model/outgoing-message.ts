/**
 * A user message on its way to an agent. `waiting`: not sent yet; `sent`: on the wire to one process; `confirmed`: the
 * agent echoed it or began its turn; `unknown`: sent to a process that died before it confirmed; `cancelled`: taken back.
 */
export type DeliveryState = "waiting" | "sent" | "confirmed" | "unknown" | "cancelled"

export interface OutgoingMessage {
  readonly uuid: string
  readonly sessionId: string
  readonly seq: number
  readonly state: DeliveryState
  readonly incarnation: string | null
  readonly line: string
  readonly by: string
  readonly at: string
}
