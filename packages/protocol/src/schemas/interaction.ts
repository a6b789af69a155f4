import { z } from "zod"

/** Inputs of the tools that are questions to a person, and the replies to elicitations and dialogs. */

export const QuestionOption = z.looseObject({
  label: z.string(),
  description: z.string().optional(),
  preview: z.string().optional(),
})
export type QuestionOption = z.infer<typeof QuestionOption>

export const Question = z.looseObject({
  question: z.string(),
  header: z.string().optional(),
  options: z.array(QuestionOption),
  multiSelect: z.boolean().optional(),
})
export type Question = z.infer<typeof Question>

export const AskUserQuestionInput = z.looseObject({ questions: z.array(Question) })
export type AskUserQuestionInput = z.infer<typeof AskUserQuestionInput>

/** `updatedInput` of the allow: keyed by the full question text; several choices are joined with ", ". */
export const AskUserQuestionAnswer = AskUserQuestionInput.extend({
  answers: z.record(z.string(), z.string()),
  annotations: z.record(z.string(), z.unknown()).optional(),
})
export type AskUserQuestionAnswer = z.infer<typeof AskUserQuestionAnswer>

/** Read from the plan file, hence empty when the agent wrote none. */
export const ExitPlanModeInput = z.looseObject({ plan: z.string().optional(), planFilePath: z.string().optional() })
export type ExitPlanModeInput = z.infer<typeof ExitPlanModeInput>

export const ELICITATION_ACTIONS = ["accept", "decline", "cancel"] as const
export const ElicitationReply = z.looseObject({
  action: z.enum(ELICITATION_ACTIONS),
  content: z.record(z.string(), z.unknown()).nullish(),
})
export type ElicitationReply = z.infer<typeof ElicitationReply>

export const UserDialogReply = z.discriminatedUnion("behavior", [
  // A dialog may complete with nothing, and JSON drops an undefined result.
  z.looseObject({ behavior: z.literal("completed"), result: z.unknown().optional() }),
  z.looseObject({ behavior: z.literal("cancelled") }),
])
export type UserDialogReply = z.infer<typeof UserDialogReply>
