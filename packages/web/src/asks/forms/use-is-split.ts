import { useIsBroad, useIsDesktop } from "../../app/screen-room.ts"
import type { AskPlace } from "./ask-form.ts"

/** Whether a diff's two sides stand beside each other: on a screen of its own sooner than beside a list. */
export function useIsSplit(place: AskPlace): boolean {
  const isDesktop = useIsDesktop()
  const isBroad = useIsBroad()
  return place === "sheet" ? isDesktop : place === "page" && isBroad
}
