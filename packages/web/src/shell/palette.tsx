import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from "react"
import { useCanOperate, useFleet, useHubStore, useMe } from "../app/hub-context.ts"
import { navigate } from "../app/router.tsx"
import { type Command, useIsPhone, useScreenCommands } from "../app/screen.tsx"
import { KeyHint } from "../design/button.tsx"
import { classes } from "../design/classes.ts"
import { Dialog } from "../design/dialog.tsx"
import { oneLine } from "../design/visible-text.tsx"
import { openAsks, summaryOf } from "../fleet/ask-words.ts"
import { titleOf } from "../fleet/session-words.ts"

interface PaletteProps {
  readonly open: boolean
  readonly onClose: () => void
  readonly onHelp: () => void
}

interface Option {
  readonly key: string
  readonly group: "Waiting for you" | "Open requests" | "Commands" | "Sessions"
  readonly label: string
  readonly note: string
  readonly run: () => void
}

const MAX_OPTIONS = 50

/** Everything by its name: what waits, what can be done here, every session. */
export function Palette({ open, onClose, onHelp }: PaletteProps) {
  return (
    <Dialog title="Command palette" hideTitle open={open} onClose={onClose}>
      {open && <PaletteBody onClose={onClose} onHelp={onHelp} />}
    </Dialog>
  )
}

function PaletteBody({ onClose, onHelp }: Omit<PaletteProps, "open">) {
  const [text, setText] = useState("")
  const [chosen, setChosen] = useState(0)
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const all = useOptions(onHelp)
  // On a phone it is also the menu of what has no place in the bar.
  const isMenu = useIsPhone() && text === ""
  const options = useMemo(() => {
    const found = all.filter((option) => matches(option, text))
    return (isMenu ? found.toSorted(commandsFirst) : found).slice(0, MAX_OPTIONS)
  }, [all, text, isMenu])
  const current = Math.min(chosen, Math.max(0, options.length - 1))

  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" })
  }, [current, options])

  function take(option: Option | undefined): void {
    if (option === undefined) return
    onClose()
    option.run()
  }

  function onKey(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && options.length > 0) setChosen((current + step + options.length) % options.length)
    else if (event.key === "Enter") take(options[current])
    else return
    event.preventDefault()
  }

  return (
    <>
      <input
        role="combobox"
        aria-label="Search sessions, requests and commands"
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={options.length === 0 ? undefined : `${id}-${current}`}
        aria-autocomplete="list"
        autoComplete="off"
        spellCheck={false}
        placeholder="Search sessions, requests and commands"
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          setChosen(0)
        }}
        onKeyDown={onKey}
        className="w-full rounded-t-sheet border-b border-line bg-transparent px-4 py-3 text-prose outline-none"
      />
      <div ref={list} id={`${id}-list`} role="listbox" aria-label="Results" className="min-h-0 overflow-y-auto p-1">
        {options.map((option, index) => (
          <div key={option.key} role="presentation">
            {option.group !== options[index - 1]?.group && (
              <div role="presentation" className="px-3 pt-3 pb-1 text-meta font-medium text-text-3">
                {option.group}
              </div>
            )}
            <div
              id={`${id}-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === current}
              onPointerMove={() => setChosen(index)}
              onClick={() => take(option)}
              onKeyDown={undefined}
              className={classes(
                "flex min-h-9 cursor-default items-center justify-between gap-3 rounded-control px-3 py-1 coarse:min-h-11",
                index === current && "bg-accent-soft",
              )}
            >
              <span className="truncate">{option.label}</span>
              {option.group === "Commands" ? (
                option.note !== "" && (
                  <span className="flex shrink-0 gap-1 text-text-3">
                    {option.note.split(" ").map((key) => (
                      <KeyHint key={key}>{key}</KeyHint>
                    ))}
                  </span>
                )
              ) : (
                <span className="min-w-0 shrink-0 truncate text-meta text-text-3">{option.note}</span>
              )}
            </div>
          </div>
        ))}
      </div>
      {options.length === 0 && <p className="px-4 pb-4 text-text-2">No results.</p>}
    </>
  )
}

function commandsFirst(a: Option, b: Option): number {
  return Number(b.group === "Commands") - Number(a.group === "Commands")
}

function matches({ label, note, group }: Option, text: string): boolean {
  const haystack = `${label} ${note} ${group}`.toLowerCase()
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => haystack.includes(word))
}

function useOptions(onHelp: () => void): readonly Option[] {
  const { sessions, asks } = useFleet()
  const store = useHubStore()
  const canOperate = useCanOperate()
  const isAdmin = useMe().role === "admin"
  const own = useScreenCommands()
  return useMemo(() => {
    const commands: readonly Command[] = [
      ...own,
      ...(canOperate ? [{ name: "New session", keys: "c", run: () => navigate("/new") }] : []),
      { name: "Sessions", keys: "g s", run: () => navigate("/sessions") },
      { name: "Requests", keys: "g a", run: () => navigate("/requests") },
      { name: "Search", keys: "/", run: () => navigate("/search") },
      { name: "Machines", keys: "g m", run: () => navigate("/machines") },
      { name: "Policy", keys: "g p", run: () => navigate("/policy") },
      { name: "Test a request", run: () => navigate("/policy/test") },
      { name: "Grants", run: () => navigate("/policy/grants") },
      { name: "Audit", run: () => navigate("/audit") },
      { name: "Appearance", run: () => navigate("/settings/appearance") },
      { name: "Notifications", run: () => navigate("/settings/notifications") },
      { name: "Keyboard", run: () => navigate("/settings/keyboard") },
      {
        name: isAdmin ? "Tokens and signed-in browsers" : "Signed-in browsers",
        run: () => navigate("/settings/access"),
      },
      ...(isAdmin ? [{ name: "Permissions", run: () => navigate("/settings/permissions") }] : []),
      { name: "About", run: () => navigate("/settings/about") },
      { name: "Keyboard shortcuts", keys: "?", run: onHelp },
      { name: "Sign out", run: () => void store.signOut("You signed out.") },
    ]
    return [
      ...openAsks(asks).map((ask): Option => {
        const session = sessions.get(ask.sessionId)
        return {
          key: `ask:${ask.id}`,
          group: canOperate ? "Waiting for you" : "Open requests",
          label: summaryOf(ask),
          note: session === undefined ? "" : titleOf(session),
          run: () => navigate(`/requests/${ask.id}`),
        }
      }),
      ...commands.map(
        ({ name, keys, run }): Option => ({ key: `do:${name}`, group: "Commands", label: name, note: keys ?? "", run }),
      ),
      ...[...sessions.values()]
        .filter(({ archived }) => !archived)
        .map(
          (session): Option => ({
            key: `session:${session.id}`,
            group: "Sessions",
            label: titleOf(session),
            note: oneLine(session.cwd ?? "", 60),
            run: () => navigate(`/s/${session.id}`),
          }),
        ),
    ]
  }, [sessions, asks, own, canOperate, isAdmin, onHelp, store])
}
