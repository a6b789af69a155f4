import type { Command } from "commander"
import { defineCommand, jsonOption } from "../base/define-command.ts"

/** Its arguments are the simulator's: `main` hands them over before this is read. Here is what the help shows. */
export function addSim(program: Command): void {
  const command = defineCommand(program, {
    name: "sim [arguments...]",
    summary: "The simulated claude executable, also installed as claude-sim; its own --help tells more",
    examples: [
      "signalbox sim --list",
      `echo '{"type":"user","message":{"role":"user","content":"permission please"}}' | signalbox sim`,
    ],
  })
  jsonOption(command, "with --list: print the scenarios as JSON; what it says as an agent is JSON in any case")
}
