import { useSyncExternalStore } from "react"

/** A phone on its side, or a page at 400 %, is broad enough and not high enough. */
const phone = matchMedia("(max-width: 639px), (max-height: 479px)")
const roomy = matchMedia("(min-width: 1100px)")
const broad = matchMedia("(min-width: 1400px)")

function useMedia(query: MediaQueryList): boolean {
  return useSyncExternalStore(
    (listener) => {
      query.addEventListener("change", listener)
      return () => query.removeEventListener("change", listener)
    },
    () => query.matches,
  )
}

/** No room to decide beside anything else. */
export function useIsPhone(): boolean {
  return useMedia(phone)
}

/** Room for the list beside what is chosen in it. */
export function useIsDesktop(): boolean {
  return useMedia(roomy)
}

/** Room for a diff's two sides beside a list. */
export function useIsBroad(): boolean {
  return useMedia(broad)
}
