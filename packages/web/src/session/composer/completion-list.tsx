import { classes } from "../../design/classes.ts"

/** Something that can stand in the place of what is being typed. */
export interface Completion {
  readonly key: string
  readonly label: string
  readonly hint: string
  readonly description: string
}

interface CompletionListProps {
  readonly id: string
  readonly label: string
  readonly options: readonly Completion[]
  readonly active: number
  /** Why nothing is offered. */
  readonly note: string | undefined
  readonly onChoose: (index: number) => void
}

export function completionId(list: string, index: number): string {
  return `${list}-${index}`
}

const POPUP =
  "absolute inset-x-0 bottom-full z-10 mb-1 max-h-[40vh] overflow-y-auto rounded-control border border-line bg-raised py-1 shadow-popover"

/** What goes on from what is typed. The focus stays in the message. */
export function CompletionList({ id, label, options, active, note, onChoose }: CompletionListProps) {
  if (note !== undefined) {
    return (
      <p role="status" className={classes(POPUP, "px-3 text-dense text-text-2")}>
        {label}: {note}
      </p>
    )
  }
  return (
    <div id={id} role="listbox" aria-label={label} className={POPUP}>
      {options.map((option, index) => (
        <div
          key={option.key}
          id={completionId(id, index)}
          role="option"
          aria-selected={index === active}
          // Before the message loses the focus.
          onPointerDown={(event) => {
            event.preventDefault()
            onChoose(index)
          }}
          className={classes(
            "flex min-h-8 cursor-pointer items-baseline gap-3 px-3 py-1 coarse:min-h-11 coarse:items-center",
            index === active ? "bg-accent-soft" : "hover:bg-sunken",
          )}
        >
          <span
            className={classes("truncate font-mono text-dense", option.description !== "" && "max-w-[65%] shrink-0")}
          >
            <bdi>{option.label}</bdi>
            {option.hint !== "" && <span className="text-text-3"> {option.hint}</span>}
          </span>
          {option.description !== "" && (
            <bdi className="min-w-0 truncate text-dense text-text-2">{option.description}</bdi>
          )}
        </div>
      ))}
    </div>
  )
}
