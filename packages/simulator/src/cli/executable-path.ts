import { fileURLToPath } from "node:url"

/** Where `claude-sim` is, for options such as `pathToClaudeCodeExecutable`. */
export const claudeSimPath: string = fileURLToPath(new URL("../../bin/claude-sim.mjs", import.meta.url))
