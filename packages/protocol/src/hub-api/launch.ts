import { z } from "zod"
import { LAUNCH_MODES, launchOptionsIn } from "../launch-options.ts"
import { Id, type Told } from "./fields.ts"

const Text = z.string().regex(/^[^\0]*$/, { error: "must not hold a NUL" })
const Words = z.array(Text.min(1).max(4_096)).max(1_000)
const Fields = z.record(z.string().min(1).max(200), z.unknown())
/** Typed as any text, as a CLI's own settings have it. */
const SOURCES: readonly string[] = ["user", "project", "local"]

/** A server of a program lives in that program, which names it when it attaches. */
const McpServer = Fields.refine(({ type }) => type !== "sdk", {
  error: 'is of the type "sdk": a program that attaches to the session brings such a server',
})

/** The policy judges the calls that an agent asks about, or every call. */
export const Enforce = z.enum(["asked", "everything"])
export type Enforce = z.output<typeof Enforce>

/** They are kept with the session, for its next process. */
const MAX_OPTIONS_CHARS = 256 * 1024

const launchOptionFields = {
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
    .array(z.enum(SOURCES))
    .max(3)
    .meta({ description: "Which settings files are read; none: an empty list. Admin." })
    .exactOptional(),
  /** Servers beside the agent. Those of a program come with the program. */
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
  enforce: Enforce.exactOptional().meta({
    description: "Takes the place of the policy's `enforce` for this session. Admin.",
  }),
}

const LaunchOptions = z.strictObject(launchOptionFields)
/** The options of a launch beyond folder, model and mode. The hub keeps all of them for the session's next process. */
export type LaunchOptions = Told<z.output<typeof LaunchOptions>>

const Command = z.strictObject({ command: z.array(z.string().min(1).max(4_096)).min(1).max(100) })

const VariableNames = z.string().regex(/^[A-Za-z_]\w*$/, { error: "is not the name of a variable" })
/** Names and values of environment variables; a value may not hold a NUL. */
export const Variables = z.record(VariableNames, Text.max(128 * 1024))

export const NewSession = z
  .strictObject({
    agent: z
      .union([z.enum(["claude", "simulator", "external"]), Command], {
        error: 'expected "claude", "simulator", "external" or {"command":["executable", …]}',
      })
      .exactOptional(),
    cwd: z.string().min(1).max(4_096).exactOptional(),
    prompt: z.string().min(1).exactOptional(),
    model: z.string().min(1).max(200).exactOptional(),
    permissionMode: z.enum(LAUNCH_MODES, { error: `expected one of ${LAUNCH_MODES.join(", ")}` }).exactOptional(),
    resume: Id.exactOptional(),
    continue: z
      .boolean()
      .exactOptional()
      .meta({ description: "Go on with the most recent conversation that claude recorded in cwd on that machine." }),
    fork: z.boolean().exactOptional(),
    /** With `fork`: the `uuid` of the agent's message after which the rest is left out. */
    resumeAt: Id.exactOptional(),
    title: z.string().max(500).exactOptional(),
    runner: Id.exactOptional(),
    hooks: z.array(z.string().min(1).max(100)).max(100).exactOptional(),
    worktree: z
      .union([z.boolean(), z.strictObject({ branch: z.string().min(1).max(250).exactOptional() })], {
        error: 'expected true, false or {"branch":"name"}',
      })
      .exactOptional(),
    ...launchOptionFields,
    args: z
      .array(z.string().max(128 * 1024))
      .max(1_000)
      .exactOptional(),
    env: Variables.exactOptional(),
    /** The same key again is the same session. */
    requestKey: Id.exactOptional(),
  })
  .refine((body) => body.continue !== true || body.resume === undefined, {
    path: ["continue"],
    error: "cannot be used with resume: name a conversation with resume, or take the folder's last one with continue",
  })
  .refine((body) => body.fork !== true || body.resume !== undefined || body.continue === true, {
    path: ["fork"],
    error: "needs resume or continue: say which conversation to fork",
  })
  .refine(({ resume, fork, resumeAt }) => resumeAt === undefined || (resume !== undefined && fork === true), {
    path: ["resumeAt"],
    error: "needs resume and fork: the original keeps all of its messages",
  })
  .refine((body) => JSON.stringify(launchOptionsIn(body) ?? {}).length <= MAX_OPTIONS_CHARS, {
    error: `systemPrompt, agents and the other options of the agent are longer than ${MAX_OPTIONS_CHARS} characters together`,
  })
  .meta({ id: "NewSession" })
export type NewSession = Told<z.output<typeof NewSession>>
