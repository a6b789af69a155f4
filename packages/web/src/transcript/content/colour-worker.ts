import { colourLines } from "./code-colours.ts"

/** Finds colours beside the page: a long text takes time that the page does not have. */
addEventListener("message", ({ data }: MessageEvent<{ id: number; text: string; language: string }>) => {
  postMessage({ id: data.id, lines: colourLines(data.text, data.language) })
})
