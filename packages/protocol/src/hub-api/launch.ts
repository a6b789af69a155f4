import { z } from "zod"

const Text = z.string().regex(/^[^\0]*$/, { error: "must not hold a NUL" })
const Words = z.array(Text.min(1).max(4_096)).max(1_000)
const Fields = z.record(z.string().min(1).max(200), z.unknown())

/** A server of a program lives in that program, which names it when it attaches. */
const McpServer = Fields.refine(({ type }) => type !== "sdk", {
  error: 'is of the type "sdk": a program that attaches to the session brings such a server',
})

/** The options of a launch beyond folder, model and mode. The hub keeps all of them for the session's next process. */
export const launchOptionFields = {
  systemPrompt: z
    .union([Text, z.array(Text).max(1_000)], { error: "expected a text or a list of texts" })
    .meta({ description: "In the place of the CLI's own." })
    .exactOptional(),
  appendSystemPrompt: Text.exactOptional(),
  agents: z.record(z.string().min(1).max(200), Fields).meta({ description: "Sub-agents by name." }).exactOptional(),
  outputFormat: z.strictObject({ type: z.literal("json_schema"), schema: Fields }).exactOptional(),
  maxTurns: z.int().positive().exactOptional(),
  maxBudgetUsd: z.number().positive().exactOptional(),
  allowedTools: Words.meta({ description: "Rules for what is not asked about. Admin." }).exactOptional(),
  disallowedTools: Words.exactOptional(),
  additionalDirectories: Words.meta({ description: "Admin." }).exactOptional(),
  settingSources: z
    .array(z.enum(["user", "project", "local"]))
    .max(3)
    .meta({ description: "Which settings files are read; none: an empty list. Admin." })
    .exactOptional(),
  mcpServers: z
    .record(z.string().min(1).max(200), McpServer)
    .meta({ description: "By name. Those that start a process are an admin's." })
    .exactOptional(),
  effort: z
    .string()
    .regex(/^[a-z]{1,20}$/, { error: "expected one word, such as low, medium or high" })
    .exactOptional(),
  thinking: z
    .strictObject({
      type: z.enum(["adaptive", "enabled", "disabled"]),
      budgetTokens: z.int().positive().exactOptional(),
      display: z
        .string()
        .regex(/^[a-z]{1,20}$/, { error: "expected one word, such as summarized" })
        .exactOptional(),
    })
    .refine(({ type, budgetTokens }) => budgetTokens === undefined || type === "enabled", {
      path: ["budgetTokens"],
      error: 'needs type "enabled"',
    })
    .exactOptional(),
  betas: z.array(Text.min(1).max(200)).max(100).exactOptional(),
}
