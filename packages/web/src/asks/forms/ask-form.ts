import type { Ask } from "@signalbox/client"
import type { ReactNode } from "react"
import type { BareAnswer } from "../answer/send-answer.ts"

/** Where a request stands: below a transcript, beside the inbox's list, or on a screen of its own. */
export type AskPlace = "dock" | "page" | "sheet"

/** What a form of an ask needs: whether it may act now, and how it answers. */
export interface AskFormProps {
  readonly ask: Ask
  /** False: nothing may be decided now, and the buttons say so. */
  readonly canAct: boolean
  /** Does nothing while the card is not armed; says whether it went out. */
  readonly answer: (answer: BareAnswer, alike?: readonly Ask[]) => boolean
  readonly place: AskPlace
  /** How the answer fares: it stands with the buttons. */
  readonly notes: ReactNode
}
