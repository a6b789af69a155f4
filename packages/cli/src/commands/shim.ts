import type { Command } from "commander"
import { defineCommand, jsonOption } from "../base/define-command.ts"

/** Its arguments are those of `claude`: `main` hands them over before this is read. Here is what the help shows. */
export function addShim(program: Command): void {
  const command = defineCommand(program, {
    name: "shim [arguments...]",
    summary: "Stand in for claude as an SDK's executable; without arguments: the path to give the SDK",
    examples: ["signalbox shim"],
    notes: [
      "Give the printed path to an official SDK as pathToClaudeCodeExecutable. Its model, permission mode, folder, resume and",
      "options cross to the hub; other arguments do with an admin's token; its environment never does. The end of its input detaches",
      "it, and the agent lives on. What to use is said by variables: SIGNALBOX_URL and SIGNALBOX_TOKEN (or SIGNALBOX_DATA),",
      "SIGNALBOX_SESSION to attach to a session that is there, SIGNALBOX_AGENT=simulator, SIGNALBOX_RUNNER.",
    ].join("\n"),
  })
  jsonOption(command, "without other arguments: print the path as JSON")
}
