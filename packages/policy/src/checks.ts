/**
 * What stands between a command and an allow, by name. A test leaves one of them out and shows which attack gets through:
 * so none of them is there for nothing. Nothing but a test ever does.
 */
export type Check =
  /** Every command in a text must be allowed, not only the first. */
  | "every-command"
  | "every-redirection"
  | "every-assignment"
  /** Commands inside `$(…)`, backquotes and `<(…)`. */
  | "every-substitution"
  /** What the parser could not read. */
  | "parse-errors"
  /** What the parser passed over: comments above all. */
  | "unread-text"
  | "unseen-characters"
  | "lines-in-words"
  | "joined-lines"
  | "ends-in-backslash"
  /** `$x`, `$((…))`, `$'…'`. */
  | "expansions"
  | "braces"
  | "exclamation-marks"
  | "background"
  /** `for`, `case`, `time`, functions and their kin. */
  | "shell-words"
  /** A program's name that only the shell will know. */
  | "unknown-program"
  /** Borders between words: a quoted blank is not one. */
  | "word-borders"
  /** Builtins that carry out what stands in an argument. */
  | "evaluating-builtins"
  /** The command behind `sudo`, `env`, `xargs`, `find -exec`. */
  | "inner-command"
  /** The text behind `bash -c`, `eval`, `ssh host`. */
  | "inner-script"
  /** What a program runs in a way that nobody can read. */
  | "runs-itself"
  /** An option by which a program that reads writes. */
  | "writing-options"
  /** A folder that a command changes for those behind it. */
  | "folder-changes"
  /** A redirection's file is a path, and no text. */
  | "redirected-paths"
  | "other-shells"
  | "length"
  | "nesting"

export type Off = ReadonlySet<Check>
export const NONE_OFF: Off = new Set()
