import { useState } from "react"
import { Notice } from "../design/notice.tsx"
import type { Machine } from "../fleet/machine.ts"
import { roomOf } from "./agent-choices.ts"
import { RadioCards } from "./radio-cards.tsx"

export function useChosenMachine(machines: readonly Machine[], first: string | null) {
  const [wished, choose] = useState(first ?? "")
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
          ? "No machine with a runner is connected. An agent can be started by hand: you get a command to paste."
          : `No machine can take another agent now (${machines.map((one) => `${one.name}: ${roomOf(one).words}`).join(", ")}). An agent can be started by hand: you get a command to paste.`}
      </Notice>
    )
  if (machines.length < 2) return null
  const choices = machines.map((one) => {
    const { isFree, words } = roomOf(one)
    return { value: one.id, label: one.name, note: words, disabled: !isFree }
  })
  return <RadioCards legend="Machine" name="machine" value={chosen.id} choices={choices} onChange={onChange} />
}
