import { useHubStore, useMe } from "../app/hub-context.ts"
import { setPreferences, usePreferences } from "../app/preferences.ts"
import type { ScreenProps } from "../app/router.tsx"
import { ConnectionPlace, useScreenTitle } from "../app/screen.tsx"
import { Button } from "../design/button.tsx"
import { classes } from "../design/classes.ts"
import { Switch } from "../design/field.tsx"
import { TabLinks } from "../design/tab-links.tsx"
import { AccessSettings } from "./access-page.tsx"
import { KeyTable } from "./key-table.tsx"
import { About, NotificationSettings, PermissionSettings } from "./settings-pages.tsx"

const PAGES = [
  { id: "appearance", title: "Appearance", page: Appearance },
  { id: "keyboard", title: "Keyboard", page: Keyboard },
  { id: "notifications", title: "Notifications", page: NotificationSettings },
  { id: "access", title: "Access", page: AccessSettings },
  { id: "permissions", title: "Permissions", page: PermissionSettings },
  { id: "about", title: "About", page: About },
] as const

export function SettingsScreen({ params }: ScreenProps) {
  const me = useMe()
  const pages = PAGES.filter(({ id }) => id !== "permissions" || me.role === "admin")
  const current = pages.find(({ id }) => id === params["page"]) ?? PAGES[0]
  useScreenTitle(current.title)
  const store = useHubStore()
  return (
    <>
      <header className="shrink-0 border-b border-line px-4 pt-2 tablet:px-6">
        <div className="mx-auto max-w-3xl">
          <h1 className="text-page font-bold">Settings</h1>
          <TabLinks
            label="Settings"
            tabs={pages.map(({ id, title }) => ({ href: `/settings/${id}`, title, isHere: id === current.id }))}
          />
        </div>
      </header>
      <ConnectionPlace />
      <div data-region="content" className="min-h-0 flex-1 overflow-y-auto px-4 py-5 tablet:px-6">
        <div className="mx-auto flex max-w-3xl flex-col gap-8">
          <current.page />
          <section className="flex flex-wrap items-center justify-between gap-3 border-t border-line pt-4">
            <p className="text-text-2">
              Signed in as <bdi className="font-medium text-text">{me.name}</bdi>
              {me.name === me.role ? "." : `, ${me.role}.`}
            </p>
            <Button onClick={() => void store.signOut("You signed out.")}>Sign out</Button>
          </section>
        </div>
      </div>
    </>
  )
}

interface ChoiceProps {
  readonly legend: string
  readonly name: string
  readonly value: string
  readonly choices: readonly { readonly value: string; readonly label: string }[]
  readonly onChoose: (value: string) => void
}

function Choice({ legend, name, value, choices, onChoose }: ChoiceProps) {
  return (
    <fieldset className="flex flex-col gap-1.5">
      <legend className="mb-1 font-medium">{legend}</legend>
      <div className="flex flex-wrap gap-2">
        {choices.map((choice) => (
          <label
            key={choice.value}
            className={classes(
              "flex min-h-9 items-center gap-2 rounded-control border px-3 coarse:min-h-11",
              choice.value === value
                ? "border-accent bg-accent-soft font-medium"
                : "border-rim bg-surface hover:bg-sunken",
            )}
          >
            <input type="radio" name={name} checked={choice.value === value} onChange={() => onChoose(choice.value)} />
            {choice.label}
          </label>
        ))}
      </div>
    </fieldset>
  )
}

function Appearance() {
  const { theme, density, text } = usePreferences()
  return (
    <div className="flex flex-col gap-6">
      <Choice
        legend="Theme"
        name="theme"
        value={theme}
        choices={[
          { value: "system", label: "System" },
          { value: "light", label: "Light" },
          { value: "dark", label: "Dark" },
        ]}
        onChoose={(value) => setPreferences({ theme: value === "light" || value === "dark" ? value : "system" })}
      />
      <Choice
        legend="Density"
        name="density"
        value={density}
        choices={[
          { value: "comfortable", label: "Comfortable" },
          { value: "compact", label: "Compact" },
        ]}
        onChoose={(value) => setPreferences({ density: value === "compact" ? value : "comfortable" })}
      />
      <Choice
        legend="Text size (%)"
        name="text"
        value={text}
        choices={(["90", "100", "110", "125"] as const).map((size) => ({ value: size, label: size }))}
        onChoose={(value) =>
          setPreferences({ text: value === "90" || value === "110" || value === "125" ? value : "100" })
        }
      />
    </div>
  )
}

function Keyboard() {
  const { singleKeys } = usePreferences()
  return (
    <div className="flex flex-col gap-4">
      <Switch checked={singleKeys} onChange={() => setPreferences({ singleKeys: !singleKeys })}>
        Single-key shortcuts, such as <kbd className="font-mono">c</kbd> and <kbd className="font-mono">j</kbd>
      </Switch>
      <KeyTable />
    </div>
  )
}
