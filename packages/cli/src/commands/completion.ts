import type { Command } from "commander"
import type { CommandContext } from "../command-context.ts"
import { defineCommand, type JsonOption, jsonOption } from "../define-command.ts"
import { usageError } from "../failure.ts"

export function addCompletion(program: Command, context: CommandContext): void {
  const command = defineCommand(program, {
    name: "completion <shell>",
    summary: "Print a completion script for bash or zsh",
    examples: ["signalbox completion bash >> ~/.bashrc", "signalbox completion zsh >> ~/.zshrc"],
  })
  jsonOption(command, "print the script inside of JSON").action(async (shell: string, options: JsonOption) => {
    if (shell !== "bash" && shell !== "zsh") throw usageError(`${shell}: there are scripts for bash and zsh`)
    const { completionScript } = await import("../completion/completion-script.ts")
    const script = completionScript(shell)
    context.stdout.write(options.json === true ? `${JSON.stringify({ shell, script })}\n` : script)
  })
  const complete = program.command("complete [words...]", { hidden: true }).allowUnknownOption()
  complete.helpOption(false).action(async (words: string[]) => {
    const { complete: candidates } = await import("../completion/complete.ts")
    const found = await candidates(program, words, context)
    context.stdout.write(found.map((each) => `${each}\n`).join(""))
  })
}
