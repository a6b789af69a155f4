import { z } from "zod"
import { ToolInput } from "./content.ts"
import { byGeneration, type Generation, keysOf, openEnum, openUnion } from "./parts.ts"

const modes = {
  default: ["2.0.77", "2.1.37", "2.1.325"],
  acceptEdits: ["2.0.77", "2.1.37", "2.1.325"],
  bypassPermissions: ["2.0.77", "2.1.37", "2.1.325"],
  plan: ["2.0.77", "2.1.37", "2.1.325"],
  delegate: ["2.0.77", "2.1.37"],
  dontAsk: ["2.0.77", "2.1.37", "2.1.325"],
  auto: ["2.1.325"],
} as const satisfies Record<string, readonly Generation[]>
const knownModes = keysOf(modes)
const existsIn = (generations: readonly Generation[], generation: Generation) => generations.includes(generation)

/** Modes per generation: a CLI refuses those of another. */
export const PERMISSION_MODES = byGeneration(knownModes, (mode, generation) => existsIn(modes[mode], generation))
export type KnownPermissionMode = keyof typeof modes

export const PermissionMode = openEnum(knownModes)
export type PermissionMode = z.infer<typeof PermissionMode>

const PERMISSION_BEHAVIORS = ["allow", "deny", "ask"] as const
export const PermissionBehavior = openEnum(PERMISSION_BEHAVIORS)
export type PermissionBehavior = z.infer<typeof PermissionBehavior>

const PERMISSION_DESTINATIONS = ["userSettings", "projectSettings", "localSettings", "session", "cliArg"] as const
const PermissionDestination = openEnum(PERMISSION_DESTINATIONS)

export const PermissionRule = z.looseObject({ toolName: z.string(), ruleContent: z.string().optional() })
export type PermissionRule = z.infer<typeof PermissionRule>

const RulesUpdate = z.looseObject({
  type: z.enum(["addRules", "replaceRules", "removeRules"]),
  rules: z.array(PermissionRule),
  behavior: PermissionBehavior,
  destination: PermissionDestination,
})
export type RulesUpdate = z.infer<typeof RulesUpdate>
const ModeUpdate = z.looseObject({
  type: z.literal("setMode"),
  mode: PermissionMode,
  destination: PermissionDestination,
})
export type ModeUpdate = z.infer<typeof ModeUpdate>
const DirectoriesUpdate = z.looseObject({
  type: z.enum(["addDirectories", "removeDirectories"]),
  directories: z.array(z.string()),
  destination: PermissionDestination,
})
export type DirectoriesUpdate = z.infer<typeof DirectoriesUpdate>
export const PermissionUpdate = openUnion("type", [RulesUpdate, ModeUpdate, DirectoriesUpdate])
export type PermissionUpdate = z.infer<typeof PermissionUpdate>

const DecisionClassification = openEnum(["user_temporary", "user_permanent", "user_reject"])

const allow = {
  behavior: z.literal("allow"),
  updatedPermissions: z.array(PermissionUpdate).optional(),
  toolUseID: z.string().optional(),
  decisionClassification: DecisionClassification.optional(),
}
const deny = {
  behavior: z.literal("deny"),
  message: z.string(),
  interrupt: z.boolean().optional(),
  toolUseID: z.string().optional(),
  decisionClassification: DecisionClassification.optional(),
}

/** The answer to `can_use_tool` as hosts write it. Without `updatedInput` 2.1.325 leaves the input unchanged. */
export const PermissionResult = z.discriminatedUnion("behavior", [
  z.looseObject({ ...allow, updatedInput: ToolInput.optional() }),
  z.looseObject(deny),
])

/** The answer as we write it: 2.1.37 turns an allow without `updatedInput` into a denied tool. */
export const WrittenPermissionResult = z.discriminatedUnion("behavior", [
  z.strictObject({ ...allow, updatedInput: ToolInput }),
  z.strictObject(deny),
])
export type WrittenPermissionResult = z.infer<typeof WrittenPermissionResult>

/** Inputs of the tools that are questions to a person, and the replies to elicitations and dialogs. */

export const QuestionOption = z.looseObject({
  label: z.string(),
  description: z.string().optional(),
  preview: z.string().optional(),
})

export const Question = z.looseObject({
  question: z.string(),
  header: z.string().optional(),
  options: z.array(QuestionOption),
  multiSelect: z.boolean().optional(),
})
export type Question = z.infer<typeof Question>

export const AskUserQuestionInput = z.looseObject({ questions: z.array(Question) })

/** `updatedInput` of the allow: keyed by the full question text; several choices are joined with ", ". */
export const AskUserQuestionAnswer = AskUserQuestionInput.extend({
  answers: z.record(z.string(), z.string()),
  annotations: z.record(z.string(), z.unknown()).optional(),
})

/** Read from the plan file, hence empty when the agent wrote none. */
export const ExitPlanModeInput = z.looseObject({ plan: z.string().optional(), planFilePath: z.string().optional() })

export const ELICITATION_ACTIONS = ["accept", "decline", "cancel"] as const
export const ElicitationReply = z.looseObject({
  action: z.enum(ELICITATION_ACTIONS),
  content: z.record(z.string(), z.unknown()).nullish(),
})

export const UserDialogReply = z.discriminatedUnion("behavior", [
  // A dialog may complete with nothing, and JSON drops an undefined result.
  z.looseObject({ behavior: z.literal("completed"), result: z.unknown().optional() }),
  z.looseObject({ behavior: z.literal("cancelled") }),
])
