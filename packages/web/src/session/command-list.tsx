import { classes } from "../design/classes.ts"
import type { Offer } from "./agent-catalog.ts"

interface CommandListProps {
  readonly id: string
  readonly commands: readonly Offer[]
  readonly active: number
  readonly onChoose: (command: Offer) => void
}

export function commandOptionId(list: string, index: number): string {
  return `${list}-${index}`
}

/** The agent's commands that go on from what is typed. The focus stays in the message. */
export function CommandList({ id, commands, active, onChoose }: CommandListProps) {
  return (
    <div
      id={id}
      role="listbox"
      aria-label="Commands"
      className="absolute inset-x-0 bottom-full z-10 mb-1 max-h-[40vh] overflow-y-auto rounded-control border border-line bg-raised py-1 shadow-popover"
    >
      {commands.map((command, index) => (
        <div
          key={command.name}
          id={commandOptionId(id, index)}
          role="option"
          aria-selected={index === active}
          // Before the message loses the focus.
          onPointerDown={(event) => {
            event.preventDefault()
            onChoose(command)
          }}
          className={classes(
            "flex min-h-8 cursor-pointer items-baseline gap-3 px-3 py-1 coarse:min-h-11 coarse:items-center",
            index === active ? "bg-accent-soft" : "hover:bg-sunken",
          )}
        >
          <span className="max-w-[65%] shrink-0 truncate font-mono text-dense">
            /{command.name}
            {command.hint !== "" && <span className="text-text-3"> {command.hint}</span>}
          </span>
          <bdi className="min-w-0 truncate text-dense text-text-2">{command.description}</bdi>
        </div>
      ))}
    </div>
  )
}
