import type { Command } from "commander"
import type { CommandContext } from "../base/command-context.ts"
import type { DataOption } from "../base/data-directory.ts"
import { defineCommand, jsonOption } from "../base/define-command.ts"

export interface DoctorOptions extends DataOption {
  readonly json?: boolean
}

export function addDoctor(program: Command, context: CommandContext): void {
  const command = defineCommand(program, {
    name: "doctor",
    summary: "What was found on this machine, what is wrong, and how to mend it",
    examples: ["signalbox doctor", "signalbox doctor --json | jq '.checks[] | select(.state != \"ok\")'"],
  })
  jsonOption(command, "print the findings as JSON").action(async (options: DoctorOptions) => {
    const { doctor } = await import("../doctor/doctor.ts")
    await doctor(options, context)
  })
}
