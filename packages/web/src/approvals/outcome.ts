import type { Ask } from "@signalbox/client"
import { clockTime, duration } from "../design/words.ts"

interface OutcomeContext {
  readonly me: string
  /** I answered too, and somebody else was first. */
  readonly lostBy: number | undefined
}

function waited(ask: Ask): string {
  return duration(Date.parse(ask.settledAt ?? ask.askedAt) - Date.parse(ask.askedAt))
}

/** What came of an ask, in a sentence. None of them says "denied" for something that nobody denied. */
export function outcomeSentence(ask: Ask, { me, lostBy }: OutcomeContext): string {
  const verb = ask.state === "allowed" ? "allowed" : "denied"
  switch (ask.state) {
    case "pending":
      return "Waiting for an answer."
    case "expired":
      return `Nobody answered in ${waited(ask)}; Claude was told so.`
    case "cancelled":
      return "Claude withdrew this request."
    case "superseded":
      return "Replaced by a newer request."
    case "orphaned":
      return "The agent ended before this was answered."
    case "allowed":
    case "denied":
      break
  }
  const who = ask.settledBy ?? "somebody"
  if (lostBy !== undefined) {
    const ago = lostBy < 1000 ? "just" : `${Math.round(lostBy / 1000)} s`
    return `${who} answered ${ago} before you. Your answer was not used.`
  }
  if (ask.via === "policy") return `${capital(verb)} by rule ${ask.rule ?? "of the hub"}.`
  if (ask.settledBy === me && ask.via === "person") return `${capital(verb)} by you, ${waited(ask)} after it was asked.`
  return `${who} ${verb} this at ${clockTime(Date.parse(ask.settledAt ?? ask.askedAt))}.`
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
