import { useEffect, useLayoutEffect, useRef, useSyncExternalStore } from "react"
import { createValueStore, useValue } from "./value-store.ts"

const screenTitle = createValueStore("")
const titleOver = createValueStore<string | undefined>(undefined)

export function usePageTitle(): string {
  const screen = useValue(screenTitle)
  return useValue(titleOver) ?? screen
}

export function useScreenTitle(title: string): void {
  useEffect(() => {
    screenTitle.set(title)
  }, [title])
}

/** Title of a layer over the screen, while the layer is open. */
export function useTitleOver(title: string): void {
  useEffect(() => {
    titleOver.set(title)
    return () => titleOver.set(undefined)
  }, [title])
}

/** The product's name, in the one place that has it. */
export const APP_NAME = "Signalbox"

/** Something that can be done here, by its name in the palette and perhaps by a key. */
export interface Command {
  readonly name: string
  readonly keys?: string
  readonly run: () => void
}

const groups = createValueStore<readonly (readonly Command[])[]>([])

/** A screen's own commands, for as long as it is shown. */
export function useCommands(commands: readonly Command[]): void {
  useEffect(() => {
    groups.set([...groups.get(), commands])
    return () => groups.set(groups.get().filter((group) => group !== commands))
  }, [commands])
}

export function useScreenCommands(): readonly Command[] {
  return useValue(groups).flat()
}

/** A phone on its side, or a page at 400 %, is broad enough and not high enough. */
const phone = matchMedia("(max-width: 639px), (max-height: 479px)")
const roomy = matchMedia("(min-width: 1100px)")
const tall = matchMedia("(min-height: 560px)")

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

/** High enough for a request above the message field: not with a phone's keyboard up. */
export function useIsTall(): boolean {
  return useMedia(tall)
}

/** Fingers: Enter is a new line there, Ctrl is not at hand, and what is touched has to be large. */
export function isCoarse(): boolean {
  return matchMedia("(pointer: coarse)").matches
}

/** Where a screen wants the bar that tells of the connection; undefined where it has no place for it. */
export const connectionPlace = createValueStore<HTMLElement | undefined>(undefined)

/** Under a screen's header: there the bar takes room from what is read, and moves no button. */
export function ConnectionPlace() {
  const element = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const own = element.current ?? undefined
    connectionPlace.set(own)
    return () => {
      // The next screen's may be there already.
      if (connectionPlace.get() === own) connectionPlace.set(undefined)
    }
  }, [])
  // Where the whole screen scrolls it stays in view.
  return (
    <div ref={element} className="z-10 shrink-0 [@media(max-height:379px)]:sticky [@media(max-height:379px)]:top-0" />
  )
}
