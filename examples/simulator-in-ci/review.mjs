// Lets an agent review the change in this folder. It may look and run the tests, and nothing else.
import { pathToFileURL } from "node:url"
import { query } from "@signalbox/sdk"

const ALLOWED = [/^git (diff|log|show|status)\b[^;&|<>$`]*$/, /^npm (test|run lint)$/]

/**
 * @param {Partial<import("@signalbox/sdk").Options>} [options] the tests put a simulated agent in here
 * @returns {Promise<{ verdict: "approve" | "reject" | "unknown", text: string, refused: string[] }>}
 */
export async function review(options = {}) {
  /** @type {string[]} */
  const refused = []
  const prompt = "Review the uncommitted change. End with a line that says APPROVE or REJECT."
  for await (const message of query({
    prompt,
    options: {
      ...options,
      async canUseTool(tool, input) {
        const command = tool === "Bash" ? String(input["command"]) : ""
        if (ALLOWED.some((pattern) => pattern.test(command))) return { behavior: "allow", updatedInput: input }
        refused.push(command === "" ? tool : command)
        return { behavior: "deny", message: "A review only looks. Say what you would change instead." }
      },
    },
  })) {
    if (message.type !== "result") continue
    if (message.subtype !== "success" || message.is_error) throw new Error(`The review failed: ${message.subtype}`)
    const last = message.result.trimEnd().split("\n").at(-1) ?? ""
    const verdict = last.includes("APPROVE") ? "approve" : last.includes("REJECT") ? "reject" : "unknown"
    return { verdict, text: message.result, refused }
  }
  throw new Error("The agent left without a result.")
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { verdict, text, refused } = await review()
  console.log(text)
  for (const command of refused) console.error(`refused: ${command}`)
  process.exitCode = verdict === "approve" ? 0 : 1
}
