import type { Command } from "commander"
import type { CommandContext, JsonOption } from "../base/context.ts"
import { defineCommand } from "../base/define-command.ts"

/** Its arguments are those of `claude`: `main` hands them over before commander reads them. Here is what the help shows. */
export function addShim(program: Command): void {
  defineCommand(program, {
    name: "shim [arguments...]",
    summary: "Stand in for claude as an SDK's executable; without arguments, print the path for the SDK",
    examples: ["signalbox shim"],
    notes: [
      "Give the printed path to an official SDK as pathToClaudeCodeExecutable. The SDK's model, permission mode, folder, resume and",
      "options are sent to the hub; other arguments need an admin token; its environment is never sent. When the SDK ends its input,",
      "it detaches and the agent keeps running. Set variables to choose: SIGNALBOX_URL and SIGNALBOX_TOKEN (or SIGNALBOX_DATA),",
      "SIGNALBOX_SESSION to attach to a running session, SIGNALBOX_AGENT=simulator, SIGNALBOX_RUNNER.",
    ].join("\n"),
    json: "without other arguments: print the path as JSON",
  })
}

/** Its arguments are the simulator's: `main` hands them over before commander reads them. Here is what the help shows. */
export function addSim(program: Command): void {
  defineCommand(program, {
    name: "sim [arguments...]",
    summary: "Run the simulated claude, also installed as claude-sim; its own --help tells more",
    examples: [
      "signalbox sim --list",
      `echo '{"type":"user","message":{"role":"user","content":"permission please"}}' | signalbox sim`,
    ],
    json: "with --list: print the scenarios as JSON; as an agent it always prints JSON",
  })
}

export function addCompletion(program: Command, context: CommandContext): void {
  defineCommand(program, {
    name: "completion <shell>",
    summary: "Print a completion script for bash, zsh or fish",
    examples: [
      "signalbox completion bash >> ~/.bashrc",
      "signalbox completion zsh >> ~/.zshrc",
      "mkdir -p ~/.config/fish && signalbox completion fish >> ~/.config/fish/config.fish",
    ],
    json: "print the script as JSON",
  }).action(async (shell: string, options: JsonOption) => {
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
