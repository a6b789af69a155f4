import { useState } from "react"
import { classes } from "../design/classes.ts"
import { Notice } from "../design/notice.tsx"
import type { Machine } from "../fleet/machine-store.tsx"
import { roomOf } from "./launch.ts"

/** `first`: the one that is wished for until somebody chooses. */
export function useChosenMachine(machines: readonly Machine[], first: string) {
  const [chosen, choose] = useState<string | undefined>(undefined)
  const wished = chosen ?? first
  const free = machines.filter((one) => roomOf(one).isFree)
  const machine = machines.find(({ id, connected }) => connected && id === wished) ?? free[0]
  return { machine, choose }
}

interface MachineChoiceProps {
  readonly machines: readonly Machine[]
  readonly chosen: Machine | undefined
  readonly onChange: (id: string) => void
}

export function MachineChoice({ machines, chosen, onChange }: MachineChoiceProps) {
  if (chosen === undefined)
    return (
      <Notice tone="neutral">
        {machines.length === 0
          ? "No machines connected. You can start an external agent with a command."
          : `No machine has room (${machines.map((one) => `${one.name}: ${roomOf(one).words}`).join(", ")}). You can start an external agent with a command.`}
      </Notice>
    )
  if (machines.length < 2) return null
  const choices = machines.map((one) => {
    const { isFree, words } = roomOf(one)
    return { value: one.id, label: one.name, note: words, disabled: !isFree }
  })
  return <RadioCards legend="Machine" name="machine" value={chosen.id} choices={choices} onChange={onChange} />
}

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
  /** On a phone they stand side by side without their notes: what follows must not be pushed off the screen. */
  readonly isTight?: boolean
}

/** One of a few, each with a line on what it means. */
export function RadioCards({ legend, name, value, choices, onChange, isTight = false }: RadioCardsProps) {
  return (
    <fieldset>
      <legend className="mb-1 text-dense font-medium text-text-2">{legend}</legend>
      <div
        className={classes(
          "grid gap-2",
          isTight && choices.length === 3 ? "grid-cols-3" : "grid-cols-2",
          choices.length === 3 && "tablet:grid-cols-3",
        )}
      >
        {choices.map((choice) => (
          <label
            key={choice.value}
            className={classes(
              "flex min-h-11 items-center gap-3 rounded-control border px-3 py-1.5",
              choice.value === value ? "border-accent bg-accent-soft" : "border-line bg-surface",
              choice.disabled === true && "text-text-3",
              isTight && "max-tablet:flex-col max-tablet:items-start max-tablet:gap-1 max-tablet:px-2",
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
              <bdi className={classes("block", isTight ? "max-tablet:text-dense tablet:truncate" : "truncate")}>
                {choice.label}
              </bdi>
              <span className={classes("block text-meta text-text-2", isTight && "max-tablet:hidden")}>
                {choice.note}
              </span>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}
