import { type Ask, newUuid } from "@signalbox/client"
import { useHubStore } from "../../app/hub-context.ts"
import { type AnswerState, useAnswerState } from "./answer-states.ts"
import { type BareAnswer, sendAnswer } from "./send-answer.ts"

export interface Answering {
  readonly state: AnswerState
  /** `alike`: asks of the same thing, that get the same answer. What is remembered is remembered once. */
  readonly answer: (answer: BareAnswer, alike?: readonly Ask[]) => void
}

export function useAnswer(ask: Ask): Answering {
  const store = useHubStore()
  const state = useAnswerState(ask.id)
  return {
    state,
    answer(answer, alike = []) {
      void sendAnswer({ store, ask, answer, answerId: newUuid() })
      for (const other of alike) {
        void sendAnswer({ store, ask: other, answer: withoutRules(answer), answerId: newUuid() })
      }
    },
  }
}

function withoutRules(answer: BareAnswer): BareAnswer {
  if (!("updatedPermissions" in answer)) return answer
  const { updatedPermissions: _, ...rest } = answer
  return rest
}
