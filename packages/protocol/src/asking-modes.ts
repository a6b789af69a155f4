/** Permission modes in which somebody is asked, or the tool is denied. Named one by one: what a later CLI adds is not trusted. */
const ASKING_MODES: ReadonlySet<string> = new Set(["default", "acceptEdits", "plan", "delegate", "dontAsk"])

/** The mode of a launch that leaves it to the settings of the machine: no mode is passed to the CLI. */
export const MACHINE_MODE = "machine"

/** The mode of a launch that names none. CLIs 2.1.290 to 2.1.301 would start in `auto` by themselves. */
export const DEFAULT_MODE = "default"

/** `auto` lets a model decide: nobody is asked there either. */
export const AUTO_MODE = "auto"

/** Every mode that a launch can name. A test holds it to the modes of the schemas. */
export const LAUNCH_MODES: readonly string[] = [...ASKING_MODES, AUTO_MODE, "bypassPermissions", MACHINE_MODE]

/** Whether an agent in this mode may run tools without asking anybody. True for what is no mode at all. */
export function mayAskNobody(mode: unknown): boolean {
  return typeof mode !== "string" || !ASKING_MODES.has(mode)
}
