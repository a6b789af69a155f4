import type { Command } from "commander"
import type { CommandContext } from "../base/command-context.ts"
import { defineCommand, type JsonOption, jsonOption } from "../base/define-command.ts"
import { usageError } from "../base/failure.ts"

export function addCompletion(program: Command, context: CommandContext): void {
  const command = defineCommand(program, {
    name: "completion <shell>",
    summary: "Print a completion script for bash, zsh or fish",
    examples: [
      "signalbox completion bash >> ~/.bashrc",
      "signalbox completion zsh >> ~/.zshrc",
      "mkdir -p ~/.config/fish && signalbox completion fish >> ~/.config/fish/config.fish",
    ],
  })
  jsonOption(command, "print the script inside of JSON").action(async (shell: string, options: JsonOption) => {
    const { completionScript, isShell } = await import("../completion/completion-script.ts")
    if (!isShell(shell)) throw usageError(`${shell}: there are scripts for bash, zsh and fish`)
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
