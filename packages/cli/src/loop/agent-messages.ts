/** What a loop says to its agents, beside the tasks themselves. */

export function failureMessage(what: string, task: string): string {
  return `The last turn ended with an error: ${what}\n\nGo on with the task:\n\n${task}`
}

export function continueMessage(task: string): string {
  return `You were stopped before the task was done. Look at what is there already, and go on with it:\n\n${task}`
}

export interface FailedCheck {
  readonly command: string
  /** "exit code 1" */
  readonly how: string
  readonly output: string
}

export function checkMessage({ command, how, output }: FailedCheck, task: string): string {
  const said = output.trim() === "" ? "It printed nothing." : `The end of what it printed:\n\n${output.trimEnd()}`
  return `The task is not done yet. It is checked by this command, which failed (${how}):\n\n${command}\n\n${said}\n\nMend that. The task was:\n\n${task}`
}
