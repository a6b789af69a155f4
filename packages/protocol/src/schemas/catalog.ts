import { z } from "zod"
import { openEnum } from "./open-enum.ts"

/** What an agent offers: its commands, models, sub-agents and account. */

export const EFFORT_LEVELS = ["low", "medium", "high", "xhigh", "max"] as const

export const SlashCommand = z.looseObject({
  name: z.string(),
  description: z.string(),
  argumentHint: z.string().optional(),
  aliases: z.array(z.string()).nullish(),
  builtin: z.boolean().nullish(),
})
export type SlashCommand = z.infer<typeof SlashCommand>

export const ModelInfo = z.looseObject({
  value: z.string(),
  displayName: z.string(),
  description: z.string().optional(),
  /** The model that an alias in `value` stands for. */
  resolvedModel: z.string().nullish(),
  supportsEffort: z.boolean().nullish(),
  supportedEffortLevels: z.array(openEnum(EFFORT_LEVELS)).nullish(),
  supportsAdaptiveThinking: z.boolean().nullish(),
  supportsThinkingOff: z.boolean().nullish(),
  supportsFastMode: z.boolean().nullish(),
  supportsAutoMode: z.boolean().nullish(),
})
export type ModelInfo = z.infer<typeof ModelInfo>

const API_PROVIDERS = [
  "firstParty",
  "bedrock",
  "vertex",
  "foundry",
  "anthropicAws",
  "anthropicGoogleCloud",
  "mantle",
  "gateway",
] as const

export const AccountInfo = z.looseObject({
  email: z.string().nullish(),
  organization: z.string().nullish(),
  subscriptionType: z.string().nullish(),
  tokenSource: z.string().nullish(),
  apiKeySource: z.string().nullish(),
  apiProvider: openEnum(API_PROVIDERS).nullish(),
})
export type AccountInfo = z.infer<typeof AccountInfo>

/** A sub-agent as listed by the agent. */
export const AgentInfo = z.looseObject({
  name: z.string(),
  description: z.string(),
  model: z.string().nullish(),
})
export type AgentInfo = z.infer<typeof AgentInfo>

/** A sub-agent as defined by the host in `initialize`. */
export const AgentDefinition = z.looseObject({
  description: z.string(),
  prompt: z.string(),
  tools: z.array(z.string()).optional(),
  disallowedTools: z.array(z.string()).optional(),
  model: z.string().optional(),
})
export type AgentDefinition = z.infer<typeof AgentDefinition>
