import { query } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, fake, Prompts, user, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

/** A fake CLI tells every line it gets, so that what each method writes can be compared. */
export async function run(): Promise<void> {
  const prompts = new Prompts()
  const options = { ...basics(), pathToClaudeCodeExecutable: fake("tells-what-it-gets") }
  const running = query({ prompt: prompts, options })
  const watching = watch(running)
  const calls: Record<string, () => Promise<unknown>> = {
    initializationResult: () => running.initializationResult(),
    supportedCommands: () => running.supportedCommands(),
    interrupt: () => running.interrupt(),
    setModel: () => running.setModel("m"),
    "setModel without": () => running.setModel(),
    setPermissionMode: () => running.setPermissionMode("plan"),
    setMaxThinkingTokens: () => running.setMaxThinkingTokens(5),
    "setMaxThinkingTokens null": () => running.setMaxThinkingTokens(null),
    "setMaxThinkingTokens shown": () => running.setMaxThinkingTokens(5, "summarized"),
    mcpServerStatus: () => running.mcpServerStatus(),
    setMcpServers: () => running.setMcpServers({ a: { command: "x", args: ["y"] } }),
    rewindFiles: () => running.rewindFiles("u"),
    "rewindFiles dry": () => running.rewindFiles("u", { dryRun: true }),
    reconnectMcpServer: () => running.reconnectMcpServer("s"),
    toggleMcpServer: () => running.toggleMcpServer("s", true),
    applyFlagSettings: () => running.applyFlagSettings({ model: "m" }),
    updateSettings: () => running.updateSettings("userSettings", { model: "m" }),
    reinitialize: () => running.reinitialize(),
    getContextUsage: () => running.getContextUsage(),
    readFile: () => running.readFile("p"),
    "readFile some": () => running.readFile("p", { maxBytes: 5, encoding: "base64" }),
    reloadPlugins: () => running.reloadPlugins(),
    reloadSkills: () => running.reloadSkills(),
    reloadOutputStyles: () => running.reloadOutputStyles(),
    seedReadState: () => running.seedReadState("p", 5),
    readMcpResource: () => running.readMcpResource("s", "u"),
    stopTask: () => running.stopTask("t"),
    backgroundTasks: () => running.backgroundTasks(),
    "backgroundTasks of one": () => running.backgroundTasks("tu"),
    setMcpPermissionModeOverride: () => running.setMcpPermissionModeOverride("s", "auto"),
  }
  for (const [what, call] of Object.entries(calls)) await attempt(what, call)
  prompts.push(user("that was all", { priority: "next", shouldQuery: true }))
  prompts.end()
  await watching
}
