import type { Ask } from "@signalbox/client"
import { useMemo } from "react"
import { useFleet } from "../../app/hub-context.ts"
import { setQuery } from "../../app/router.tsx"
import { Select } from "../../design/field.tsx"
import { useMachineNames } from "../../fleet/machine-store.tsx"
import { BY_HAND, type InboxWish, KINDS, machineOf } from "./inbox.ts"

interface InboxFiltersProps {
  readonly wish: InboxWish
  /** All there is, whatever is wanted of it. */
  readonly asks: readonly Ask[]
}

/** What of the inbox is shown: one kind, one machine. Both are in the address. */
export function InboxFilters({ wish, asks }: InboxFiltersProps) {
  const { sessions } = useFleet()
  const names = useMachineNames(sessions)
  const machines = useMemo(() => {
    const found = new Set(asks.map((ask) => machineOf(ask, sessions)).filter((machine) => machine !== undefined))
    if (wish.machine !== "") found.add(wish.machine)
    return [...found].map((machine) => ({
      value: machine,
      label: machine === BY_HAND ? "Started by hand" : (names.get(machine) ?? machine.slice(0, 8)),
    }))
  }, [asks, sessions, names, wish.machine])
  return (
    <div className="flex flex-wrap gap-2">
      <Select
        aria-label="Kind"
        value={wish.kind}
        choices={[{ value: "", label: "Any kind" }, ...KINDS]}
        onChange={(event) => setQuery({ kind: event.target.value })}
        className="min-w-0 flex-1 text-dense!"
      />
      <Select
        aria-label="Machine"
        value={wish.machine}
        choices={[{ value: "", label: "Any machine" }, ...machines]}
        onChange={(event) => setQuery({ machine: event.target.value })}
        className="min-w-0 flex-1 text-dense!"
      />
    </div>
  )
}
