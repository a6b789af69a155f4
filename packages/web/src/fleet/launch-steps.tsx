import { classes } from "../design/classes.ts"

const STEPS = [
  { name: "queued", words: "Queued" },
  { name: "starting", words: "Starting CLI" },
  { name: "ready", words: "Ready" },
] as const

/** Where a launch is. */
export function LaunchSteps({ at }: { readonly at: "queued" | "starting" }) {
  const now = STEPS.findIndex(({ name }) => name === at)
  return (
    <ol aria-label="Launch" className="flex flex-wrap items-center gap-x-2 text-dense">
      {STEPS.map(({ name, words }, index) => (
        <li
          key={name}
          aria-current={index === now ? "step" : undefined}
          className={classes("flex items-center gap-2", index === now ? "font-medium text-info" : "text-text-3")}
        >
          {index > 0 && <span aria-hidden="true">→</span>}
          {words}
          {index < now && <span aria-hidden="true">✓</span>}
          {index < now && <span className="sr-only">, done</span>}
        </li>
      ))}
    </ol>
  )
}
