import { useEffect } from "react"
import { APP_NAME } from "../app/app-name.ts"

/** The tab says how many wait, in its title, its icon and, where the platform has one, its badge. */
export function usePageBadge(waiting: number, screen: string): void {
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${screen === "" ? "" : `${screen} · `}${APP_NAME}`
  }, [waiting, screen])
  useEffect(() => {
    const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]')
    if (icon !== null) icon.href = waiting > 0 ? "/icon-waiting.svg" : "/icon.svg"
    if (!("setAppBadge" in navigator)) return
    // Not every platform lets a page do it; then there is no badge.
    void navigator.setAppBadge(waiting).catch(() => undefined)
  }, [waiting])
}
