import { isObject } from "@signalbox/protocol/envelope"
import { keepStored, readStored } from "./stored.ts"
import { createValueStore, useValue } from "./value-store.ts"

const CHOICES = {
  theme: ["system", "light", "dark"],
  density: ["comfortable", "compact"],
  text: ["90", "100", "110", "125"],
  detail: ["brief", "normal", "full"],
  diff: ["auto", "split", "unified"],
} as const

type Choices = { readonly [K in keyof typeof CHOICES]: (typeof CHOICES)[K][number] }
type Switches = Readonly<Record<"singleKeys" | "notify" | "notifyDetails" | "notifySound", boolean>>

/** One person's choices, on this browser. */
export interface Preferences extends Choices, Switches {}

const KEY = "signalbox:preferences"
const DEFAULTS: Preferences = {
  theme: "system",
  density: "comfortable",
  text: "100",
  singleKeys: true,
  detail: "normal",
  diff: "auto",
  notify: false,
  notifyDetails: false,
  notifySound: false,
}

/** Takes only values that we know: kept ones may be of another version, or somebody's own doing. */
function readKept(): Preferences {
  const kept = readStored(KEY)
  const known = Object.entries(DEFAULTS).map(([name, byDefault]) => {
    const value = isObject(kept) ? kept[name] : undefined
    const choices: readonly unknown[] | undefined = Object.entries(CHOICES).find(([choice]) => choice === name)?.[1]
    const isKnown = choices?.includes(value) ?? typeof value === typeof byDefault
    return [name, isKnown ? value : byDefault]
  })
  return { ...DEFAULTS, ...Object.fromEntries(known) }
}

export const preferences = createValueStore(readKept())

export function usePreferences(): Preferences {
  return useValue(preferences)
}

export function setPreferences(changes: Partial<Preferences>): void {
  const next = { ...preferences.get(), ...changes }
  preferences.set(next)
  keepStored(KEY, next)
}

function dress({ theme, density, text }: Preferences): void {
  const { dataset } = document.documentElement
  dataset["theme"] = theme
  dataset["density"] = density
  dataset["text"] = text
}

/** The document wears what was chosen from before the first paint on. Another tab's choice counts here too. */
export function wearPreferences(): void {
  dress(preferences.get())
  preferences.subscribe(() => dress(preferences.get()))
  addEventListener("storage", ({ key }) => {
    if (key === KEY) preferences.set(readKept())
  })
}
