import { defined } from "@signalbox/protocol"
import { parseObject } from "@signalbox/protocol/envelope"
import type { CommandContext, JsonOption } from "../base/context.ts"
import { usageError } from "../base/failure.ts"
import { findSession } from "../hub/abbreviated-id.ts"
import { withHub } from "../hub/connect.ts"
import { coloursFor, print, printJson } from "../terminal/output.ts"
import { onOneLine } from "../terminal/text.ts"
import { whyText } from "../terminal/why-text.ts"
import { runnerNamed } from "./audit.ts"

export interface ExplainOptions extends JsonOption {
  readonly session?: string
  readonly cwd?: string
  readonly runner?: string
  readonly branch?: string
}

/** The command adds the folder and the mode of a session; the hub knows its machine and its branch. */
export async function explainRequest(
  { tool, text }: { readonly tool: string; readonly text: string },
  options: ExplainOptions,
  context: CommandContext,
): Promise<void> {
  const input = inputOf(tool, text)
  await withHub(options, context, async (hub) => {
    const session = options.session === undefined ? undefined : await findSession(hub, options.session)
    const runner = options.runner === undefined ? undefined : await runnerNamed(hub, options.runner)
    const { cwd = session?.cwd ?? undefined, branch } = options
    const place = defined({ session: session?.id, cwd, mode: session?.permissionMode ?? undefined, runner, branch })
    const verdict = await hub.explainPolicy({ request: { tool, input, ...place } })
    if (options.json === true) return printJson(context, verdict)
    const colours = coloursFor(context.stdout, context.env)
    const { effect, rule, reason, message } = verdict
    const told = whyText({ ...verdict, input }, colours)
    const lines = [
      `${colours.bold(effect)} (${rule === undefined ? "no rule" : `rule ${onOneLine(rule)}`})`,
      ...(told.length === 0 ? [onOneLine(reason, "decision")] : told).map((line) => `  ${line}`),
      ...(message === undefined ? [] : [`  The agent is told: ${onOneLine(message, "decision")}`]),
    ]
    await print(context.stdout, `${lines.join("\n")}\n`)
  })
}

/** A command of Bash needs no JSON around it. */
function inputOf(tool: string, text: string): Readonly<Record<string, unknown>> {
  const input = parseObject(text)
  if (input !== undefined) return input
  if (tool === "Bash" && text.trim() !== "" && !text.trim().startsWith("{")) return { command: text }
  const example = tool === "Bash" ? `'{"command":"npm test"}' or 'npm test'` : `'{"file_path":"src/index.ts"}'`
  throw usageError(`the input must be a JSON object, such as ${example}`)
}
