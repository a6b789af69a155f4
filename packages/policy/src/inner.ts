import { UNKNOWN } from "./matching.ts"
import type { ShellWord } from "./shell-reading.ts"
import { writtenText } from "./shell-text.ts"

/** The effects of a command beyond its own program, as far as its words tell. */
export type Inner =
  /** It runs other commands, and these are they. `prefix` is the command without them. */
  | {
      readonly kind: "commands"
      readonly prefix: readonly string[]
      readonly commands: readonly (readonly ShellWord[])[]
      readonly sets: readonly string[]
      /** How many words a pattern for the whole must name: to the end of the program that is run. */
      readonly named: number
    }
  | { readonly kind: "script"; readonly prefix: readonly string[]; readonly text: string }
  /** It runs the file or target that this word names: a pattern must have so many words of it. */
  | { readonly kind: "file"; readonly named: number }
  /** It writes because of these words, and a pattern must have them, or so much of them that `names` says yes. */
  | {
      readonly kind: "writes"
      readonly words: readonly string[]
      readonly names: (start: string) => boolean
      /** How many words a pattern must name beside, before its first star. */
      readonly named?: number
    }
  /** Only a pattern without stars covers it. */
  | { readonly kind: "closed"; readonly because: string }
  /** Nothing covers it. */
  | { readonly kind: "never"; readonly because: string }

/** The text in which a command stands, as far as it changes what the command does. */
export interface Around {
  /** Something may be piped into it. */
  readonly hasInput: boolean
  /** Whether a path that is absolute or goes up leaves the session's folder. */
  readonly isOutside: (path: string) => boolean
}

/** Where nobody asks which file it is. */
export const inNoFolder = (hasInput: boolean): Around => ({ hasInput, isOutside: () => true })

export const closed = (because: string): Inner => ({ kind: "closed", because })
export const never = (because: string): Inner => ({ kind: "never", because })
export const closedBy = ({ text }: ShellWord, name: string): Inner =>
  text.includes(UNKNOWN)
    ? closed(`only the shell knows with which options it runs ${name}`)
    : closed(`nobody knows whether "${shown(text)}" makes ${name} run or write something else`)

/** A word that is what it says. */
export const plainWord = (text: string): ShellWord => ({ text, isGlob: false, splits: false })

/** A word, short enough for a sentence. */
export function shown(word: string): string {
  const text = writtenText(word).replaceAll(UNKNOWN, "…")
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}
