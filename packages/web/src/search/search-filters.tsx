import { useState } from "react"
import { useSession } from "../app/hub-context.ts"
import { setQuery } from "../app/router.tsx"
import { Button, IconButton } from "../design/button.tsx"
import { classes } from "../design/classes.ts"
import { Select } from "../design/field.tsx"
import { CheckIcon, CloseIcon, SettingsIcon } from "../design/icons.tsx"
import { useMachines } from "../fleet/machine-store.tsx"
import { titleOf } from "../fleet/session-words.ts"
import { SCOPES, type Scope, type SearchWish } from "./search-query.ts"

/** The filters of the search; all of them are in the address. */
export function SearchFilters({ wish }: { readonly wish: SearchWish }) {
  const isSet = [wish.machine, wish.from, wish.to].some((part) => part !== "")
  const [isOpen, setOpen] = useState(isSet)
  return (
    <div className="flex flex-wrap items-center gap-2">
      <fieldset className="flex flex-wrap gap-1.5">
        <legend className="sr-only">Search in</legend>
        {SCOPES.map(({ value, label }) => (
          <ScopeBox key={value} value={value} label={label} wish={wish} />
        ))}
      </fieldset>
      {/* On a phone what is seldom wanted stays out of the way of what was found. */}
      <IconButton
        label="More filters"
        aria-expanded={isOpen}
        aria-controls="search-more"
        onClick={() => setOpen(!isOpen)}
        className="ms-auto tablet:hidden"
      >
        <SettingsIcon />
      </IconButton>
      <div
        id="search-more"
        className={classes(
          "min-w-0 flex-wrap items-center gap-2 tablet:flex desktop:ms-auto",
          isOpen ? "flex" : "hidden",
        )}
      >
        <MachineChoice wish={wish} />
        <Day name="from" label="From" value={wish.from} />
        <Day name="to" label="To" value={wish.to} />
      </div>
      {wish.session !== "" && <SessionChip id={wish.session} />}
    </div>
  )
}

function ScopeBox({
  value,
  label,
  wish,
}: {
  readonly value: Scope
  readonly label: string
  readonly wish: SearchWish
}) {
  const isChosen = wish.scopes.includes(value)
  const toggle = () => {
    const next = SCOPES.map((scope) => scope.value).filter((scope) => wish.scopes.includes(scope) !== (scope === value))
    setQuery({ in: next.join(",") })
  }
  return (
    <label
      className={classes(
        "relative flex min-h-8 items-center gap-1 rounded-control border px-2 text-dense has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-focus coarse:min-h-11",
        isChosen ? "border-accent bg-accent-soft text-text" : "border-edge bg-surface text-text-2",
      )}
    >
      {/* Over the whole of it: what is seen is what can be hit. */}
      <input
        type="checkbox"
        checked={isChosen}
        onChange={toggle}
        className="absolute inset-0 size-full cursor-pointer opacity-0"
      />
      {isChosen && <CheckIcon size={12} />}
      {label}
    </label>
  )
}

function MachineChoice({ wish }: { readonly wish: SearchWish }) {
  const { all } = useMachines()
  if (all.length === 0 && wish.machine === "") return null
  const isKnown = wish.machine === "" || all.some(({ id }) => id === wish.machine)
  return (
    <Select
      aria-label="Machine"
      value={wish.machine}
      onChange={(event) => setQuery({ machine: event.target.value })}
      choices={[
        { value: "", label: "Any machine" },
        ...all.map(({ id, name }) => ({ value: id, label: name })),
        ...(isKnown ? [] : [{ value: wish.machine, label: wish.machine.slice(0, 8) }]),
      ]}
      className="max-w-48 text-dense!"
    />
  )
}

function Day({ name, label, value }: { readonly name: "from" | "to"; readonly label: string; readonly value: string }) {
  return (
    <label className="flex items-center gap-1.5 text-dense text-text-2">
      <span className="max-tablet:w-9">{label}</span>
      <input
        type="date"
        value={value}
        onChange={(event) => setQuery({ [name]: event.target.value })}
        className="min-h-8 w-36 rounded-control border border-edge bg-surface px-2 text-dense text-text coarse:min-h-11 coarse:w-44 coarse:text-input"
      />
    </label>
  )
}

function SessionChip({ id }: { readonly id: string }) {
  const session = useSession(id)
  const title = session === undefined ? id.slice(0, 8) : titleOf(session)
  return (
    <Button onClick={() => setQuery({ session: null })} className="max-w-full" aria-label={`Only in ${title}: remove`}>
      <span className="truncate">In {title}</span>
      <CloseIcon size={14} />
    </Button>
  )
}
