import type { Executable } from "./executable.ts"

/**
 * Some versions (2.1.200) run a tool whose hook is open when their input ends, and every tool after it. So the input of an
 * enforced agent never ends while the agent lives: it reads a pipe that it holds open itself, which `cat` fills with what we
 * write. When we are gone, or close our end, the whole group gets TERM, after which no version was seen to run a tool, and soon
 * KILL. `cat` opens the pipe for itself (5), because the agent may set its own end (3) not to block. The agent takes the
 * shell's place, so that its pid, its signals and its exit are its own.
 */
const SCRIPT = `
pipe=$1
shift
command -p mkfifo -m 600 "$pipe" && exec 3<>"$pipe" 4<&0 5>"$pipe" && command -p rm -f "$pipe" || exit 126
(
  trap "" TERM HUP INT
  command -p cat <&4 >&5
  kill -TERM 0
  left=5
  while kill -0 $$ && [ $left -gt 0 ]; do command -p sleep 1; left=$((left - 1)); done
  kill -KILL 0
) >/dev/null 2>&1 &
exec "$@" <&3 3<&- 4<&- 5>&-
`

/** `pipe`: a path that nobody else has, in a folder that there is. It is gone when the agent runs. */
export function guardedInput({ command, args }: Pick<Executable, "command" | "args">, pipe: string) {
  return { command: "/bin/sh", args: ["-c", SCRIPT, "sh", pipe, command, ...args] }
}
