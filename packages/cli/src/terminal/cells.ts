/** How wide text is on a terminal, and how it is cut into lines. Text comes here already made visible: without controls. */

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" })
const PLAIN = /^[\u0020-\u007e]*$/
const NO_WIDTH = /^[\p{Mark}\p{Format}]+$/u
/** East Asian wide and full-width, and what is shown as a picture. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\ufe0f/u

function widthOfCluster(cluster: string): number {
  if (NO_WIDTH.test(cluster)) return 0
  return WIDE.test(cluster) ? 2 : 1
}

export function cellWidth(text: string): number {
  if (PLAIN.test(text)) return text.length
  let width = 0
  for (const { segment } of graphemes.segment(text)) width += widthOfCluster(segment)
  return width
}

/** No wider than `width`; what was cut is told by a dot-dot-dot. */
export function cutCells(text: string, width: number): string {
  if (cellWidth(text) <= width) return text
  const [head = ""] = pieces(text, width - 1)
  // Not even one wide character may fit beside it.
  return cellWidth(head) < width ? `${head}…` : "…"
}

/** Lines no wider than `width`, broken at spaces where there are some. */
export function wrapCells(text: string, width: number): readonly string[] {
  const room = Math.max(1, width)
  return text
    .replaceAll("\t", "    ")
    .split("\n")
    .flatMap((line) => (cellWidth(line) <= room ? [line] : wrapLine(line, room)))
}

function wrapLine(line: string, width: number): readonly string[] {
  const lines: string[] = []
  let current = ""
  let used = 0
  for (const word of line.split(/(?<= )/)) {
    const size = cellWidth(word)
    if (used + cellWidth(word.trimEnd()) <= width) {
      current += word
      used += size
      continue
    }
    if (current !== "") lines.push(current.trimEnd())
    const parts = pieces(word, width)
    lines.push(...parts.slice(0, -1))
    current = parts.at(-1) ?? ""
    used = cellWidth(current)
  }
  return [...lines, current.trimEnd()]
}

function pieces(text: string, width: number): readonly string[] {
  const parts: string[] = []
  let current = ""
  let used = 0
  for (const { segment } of graphemes.segment(text)) {
    const size = widthOfCluster(segment)
    if (used + size > width && current !== "") {
      parts.push(current)
      current = ""
      used = 0
    }
    current += segment
    used += size
  }
  return [...parts, current]
}
