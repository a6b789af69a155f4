import type { SignedInBrowser, Token } from "@signalbox/client"
import { oneLine } from "../design/visible-text.tsx"
import { plural } from "../design/words.ts"

/** The first that fits: browsers also name those that they are like. */
const BROWSERS = [
  [/\bEdgA?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\b(?:Firefox|FxiOS)\//, "Firefox"],
  [/\b(?:(?:Headless)?Chrome|CriOS)\//, "Chrome"],
  [/\bVersion\/[\d.]+.*\bSafari\//, "Safari"],
] as const

const SYSTEMS = [
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bAndroid\b/, "Android"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b/, "Mac"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
] as const

/** A browser by its `User-Agent`: "Firefox on Linux". A program says what it is. */
export function browserWords(userAgent: string | null): string {
  const text = userAgent ?? ""
  const browser = BROWSERS.find(([pattern]) => pattern.test(text))?.[1]
  const system = SYSTEMS.find(([pattern]) => pattern.test(text))?.[1]
  if (browser === undefined) return text === "" ? "Unknown browser" : oneLine(text, 60)
  return system === undefined ? browser : `${browser} on ${system}`
}

/** The consequence of revoking a token, for the person who is about to. */
export function revokeConsequence({ id, role }: Token, browsers: readonly SignedInBrowser[]): string {
  const own = browsers.filter(({ tokenId }) => tokenId === id)
  return [
    role === "runner" ? "The machine that uses it is disconnected." : "Anything that uses it stops working at once.",
    ...(own.length === 0 ? [] : [`${plural(own.length, "signed-in browser")} will be signed out.`]),
    ...(own.some(({ current }) => current) ? ["This browser is one of them."] : []),
  ].join(" ")
}
