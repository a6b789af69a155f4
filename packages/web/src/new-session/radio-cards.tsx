import { classes } from "../design/classes.ts"

interface RadioCard {
  readonly value: string
  readonly label: string
  readonly note: string
  readonly disabled?: boolean
}

interface RadioCardsProps {
  readonly legend: string
  readonly name: string
  readonly value: string | undefined
  readonly choices: readonly RadioCard[]
  readonly onChange: (value: string) => void
}

/** One of a few, each with a line on what it means. */
export function RadioCards({ legend, name, value, choices, onChange }: RadioCardsProps) {
  return (
    <fieldset>
      <legend className="mb-1 text-dense font-medium text-text-2">{legend}</legend>
      <div className="grid gap-2 tablet:grid-cols-2">
        {choices.map((choice) => (
          <label
            key={choice.value}
            className={classes(
              "flex min-h-11 items-center gap-3 rounded-control border px-3 py-1.5",
              choice.value === value ? "border-accent bg-accent-soft" : "border-line bg-surface",
              choice.disabled === true && "text-text-3",
            )}
          >
            <input
              type="radio"
              name={name}
              disabled={choice.disabled}
              checked={choice.value === value}
              onChange={() => onChange(choice.value)}
              className="size-4 shrink-0"
            />
            <span className="min-w-0">
              <bdi className="block truncate">{choice.label}</bdi>
              <span className="block text-meta text-text-2">{choice.note}</span>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}
