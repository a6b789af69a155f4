import { classes } from "../design/classes.ts"
import type { MachineStatus } from "./machine-status.tsx"

const LOOKS: Readonly<Record<MachineStatus, string>> = {
  online: "text-clear",
  full: "text-caution",
  draining: "text-caution",
  old: "text-caution",
  silent: "text-danger",
}

/** A lamp: lit, half lit, or out. Its words stand beside it. */
export function MachineGlyph({ status, words }: { readonly status: MachineStatus; readonly words: string }) {
  return (
    <span className={classes("inline-flex min-w-0 items-center gap-1.5 text-dense font-medium", LOOKS[status])}>
      <svg
        width="14"
        height="14"
        viewBox="0 0 16 16"
        aria-hidden="true"
        className="shrink-0"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.8"
      >
        <circle cx="8" cy="8" r="5.5" />
        {status !== "silent" && <circle cx="8" cy="8" r="3" fill="currentColor" stroke="none" />}
        {status === "silent" && <path d="m4.2 4.2 7.6 7.6" />}
      </svg>
      {words}
    </span>
  )
}
